import { databaseNowMs } from "../store/sql/database-clock.ts";
import { StoreError, type Store } from "../store/index.ts";
import { repeat, type Repeated } from "./repeat.ts";

const LOOK_EVERY_MS = 2_000;

/**
 * Looks every two seconds whether the store's file is still the one that this process has opened.
 *
 * @param gone is told each time that it isn't, with what happened and what to do
 */
export function watchStore(store: Pick<Store, "db">, gone: (why: string) => void): Repeated {
  return repeat(
    async () => {
      await databaseNowMs(store.db);
      return LOOK_EVERY_MS;
    },
    (error) => {
      if (error instanceof StoreError && error.code === "replaced") gone(error.message);
      return LOOK_EVERY_MS;
    },
  );
}
