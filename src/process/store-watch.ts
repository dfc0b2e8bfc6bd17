import { databaseNowMs } from "../store/sql/database-clock.ts";
import { StoreError } from "../store/index.ts";
import { isPostgres } from "../store/open.ts";
import type { PartStart } from "./part.ts";
import { repeat, type Repeated } from "./repeat.ts";

const LOOK_EVERY_MS = 2_000;

/**
 * Checks every two seconds that the store's file is still the one that this process has opened;
 * PostgreSQL has none.
 *
 * @param gone called each time that it isn't, with what happened and what to do
 */
export function watchStore(
  { config, store }: PartStart,
  gone: (why: string) => void,
): Repeated | undefined {
  if (isPostgres(config.databaseUrl)) return undefined;
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
