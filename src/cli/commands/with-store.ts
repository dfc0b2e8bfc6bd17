import { definedOnly } from "../../contracts/defined-only.ts";
import type { Config } from "../../config.ts";
import type { Store } from "../../store/index.ts";
import { openStore } from "../../store/open.ts";

/**
 * Opens the existing store for a piece of work, on its own host.
 *
 * @param busyLimitMs how long to wait for a store that other processes write to; the usual time
 *   unless given
 */
export async function withStore<T>(
  { databaseUrl }: Pick<Config, "databaseUrl">,
  work: (store: Store) => Promise<T>,
  busyLimitMs?: number,
): Promise<T> {
  const store = await openStore(databaseUrl, {
    mustExist: true,
    ...definedOnly({ busyLimitMs }),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
