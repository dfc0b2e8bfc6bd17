import type { Config } from "../../config.ts";
import { openStore, type Store } from "../../store/index.ts";

/** Opens the store that there is for a piece of work, on its own host. */
export async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(config.databaseUrl, { mustExist: true });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
