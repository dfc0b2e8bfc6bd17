import type { Config } from "../../config.ts";
import { isPlainDatabase } from "../../config/plaintext.ts";
import { STORE_TROUBLES, type StoreState } from "../../domain/store-states.ts";
import { type Store, StoreError } from "../../store/index.ts";
import { isPostgres, openStore } from "../../store/open.ts";
import { limitsOff } from "../../store/postgres/limits.ts";
import { howItTakesWrites } from "../../store/sql/small-write.ts";
import { errorReason } from "../terminal/cli-error.ts";
import { type Check, plain } from "./doctor-businesses.ts";

const TIMEOUT_MS = 5_000;

/** Checks that the store can be opened and written, and that its limits hold. */
export async function storeCheck({
  databaseUrl,
  databasePoolSize,
  settings,
}: Config): Promise<Check> {
  const name = "Store";
  // Settings are listed without the password.
  const shown = isPostgres(databaseUrl)
    ? settings.find((setting) => setting.name === "PAYRUN_DATABASE_URL")?.value
    : databaseUrl;
  try {
    const { state, off } = await lookAt(databaseUrl);
    if (state !== "ok") {
      const { text, remedy } = STORE_TROUBLES[state];
      return { name, state: "failed", text: `${shown}: ${text}`, remedy };
    }
    const text = isPostgres(databaseUrl)
      ? `${shown}; at most ${databasePoolSize} connections a process`
      : `${shown}; SQLite means one host: worker and gateway run on this machine`;
    if (off.length > 0) {
      const what = `${text}; these limits don't hold: ${off.join(", ")}`;
      return { name, state: "warning", text: what, remedy: LIMITS_HOLD };
    }
    return isPlainDatabase(databaseUrl) ? plain(name, text) : { name, state: "ok", text };
  } catch (error) {
    const isMissing = error instanceof StoreError && error.code === "missing";
    const made = isPostgres(databaseUrl)
      ? ""
      : "; otherwise “payrun up”, “payrun worker” or “payrun gateway” makes one";
    const remedy = `If there was one, restore its backup first (docs/operations.md)${made}.`;
    return { name, state: "failed", text: errorReason(error), ...(isMissing && { remedy }) };
  }
}

const LIMITS_HOLD =
  "Payrun sets them in each transaction, so something between here and the server drops them: without them, a frozen process can keep others waiting for ever. Look at the pooler's settings (docs/operations.md).";

/** Returns how a store takes writes; a role that may only read says nothing about that. */
export async function writesHere(store: Store): Promise<StoreState> {
  const state = await howItTakesWrites(store);
  return state === "refused" ? "ok" : state;
}

/** Returns how the store takes writes, and which of PostgreSQL's limits don't hold. */
async function lookAt(databaseUrl: string) {
  const store = await openStore(databaseUrl, { mustExist: true, busyLimitMs: TIMEOUT_MS });
  try {
    const state = await writesHere(store);
    return { state, off: isPostgres(databaseUrl) ? await limitsOff(store.db) : [] };
  } finally {
    await store.close();
  }
}
