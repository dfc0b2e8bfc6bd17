import { createHold } from "../../../src/store/holds/holds.ts";
import { openStore } from "../../../src/store/open.ts";

/** Puts a run on hold, and dies right after the commit, before it can signal any workflow. */
const [url = "", businessId = "", runId = ""] = process.argv.slice(2);
const store = await openStore(url, { mustExist: true });
store.afterCommit(() => process.kill(process.pid, "SIGKILL"));
const said = { reason: "Wait.", author: "otto", untilMs: null, nowMs: Date.now() };
await store.transactionOf(businessId, (trx) =>
  createHold(trx, { businessId, scope: "run", value: runId, ...said }),
);
