import type { Config } from "../../config.ts";
import { openStore, type Store } from "../../store/index.ts";

/**
 * Opens the store that there is for a piece of work, on its own host.
 *
 * @param busyLimitMs how long a store that others write to is waited for, if not as usual
 */
export async function withStore<T>(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  work: (store: Store) => Promise<T>,
  busyLimitMs?: number,
): Promise<T> {
  const store = await openStore(databaseUrl, {
    mustExist: true,
    ...(busyLimitMs === undefined ? {} : { busyLimitMs }),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
