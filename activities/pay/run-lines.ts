import { HOUR_MS } from "../../src/contracts/durations.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import type { LineOwner } from "./job.ts";

/** A run's own lines, which it leases and approves. */
export const RUN_LINES: LineOwner = {
  waits: "planned",
  mayPay: "unknown",
  paid: (state) => ({ state, reason: null }),
  lineWaits: ({ businessMs }) => ({ state: "on-hold", pollAtMs: businessMs + HOUR_MS }),
  onHold: { state: "on-hold", backsOffAtMs: null },
  asked: () => ({ state: "awaiting-approval", funded: false }),
  notApproved: { state: "awaiting-approval", funded: false, backsOffAtMs: null },
  stopped: () => ({ state: "cancelled", reason: null }),
  changed: () => ({ state: "awaiting-approval", backsOffAtMs: null }),
  // The run looks for the line's money anew, which says what the source lacks.
  noMoney: { funded: false },
  onlyAsLeased: true,
  also: async (trx, { runId }, _, outcome, { realMs: nowMs }) => {
    if (outcome.kind !== "changed") return;
    const lines = [{ plan: outcome.plan, reason: outcome.reason }];
    await storeReplannedLines(trx, { runId, lines, nowMs });
  },
};
