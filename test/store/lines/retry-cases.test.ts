import { expect, test } from "vitest";
import { openIncident } from "../../../src/store/incidents/incidents.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { countWaitingForIncidents, keepRetryCase } from "../../../src/store/lines/retry-cases.ts";
import { updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { approvedRun } from "../approved-run.ts";
import { testStore } from "../support.ts";

const FAILED = [
  ["waits", "waiting", "incident"],
  ["paid-again", "following", "incident"],
  ["over", "ended", "incident"],
  ["of-its-own", "waiting", null],
] as const;

test("a failed bill counts as waiting for an account's decision unless it is paid again, over or waits for something else", async () => {
  const { store } = await testStore();
  const { db } = store;
  const acme = { businessId: "biz_1", business: "acme" };
  const runId = await approvedRun(
    store,
    "weekly",
    FAILED.map(([payableId]) => payableId),
  );
  for (const [payableId, phase, waitsFor] of FAILED) {
    const key = { businessId: "biz_1", payableId };
    await changeLine(db, { runId, payableId }, { state: "retrying" }, 4);
    await upsertRetry(db, { ...key, ...acme, runId, workflowId: `retry/${payableId}`, nowMs: 5 });
    await updateRetry(db, key, { phase }, 6);
    await keepRetryCase(db, {
      ...{ ...key, sourceId: "balance", waitsFor, failedAtMs: 1, failedRealMs: 1 },
      rule: {
        ...{ codes: ["R01"], words: [], action: "retry", pause: true, payAgain: false },
        ...{ when: "when-released", atMost: 2, by: ["controller"] },
      },
      ...{ giveUpAfterDays: 30, giveUpNotify: [] },
    });
  }
  const why = {
    code: "R01" as const,
    reason: "R01",
    roles: ["controller"],
    failedAtMs: 1,
    nowMs: 7,
  };
  await store.transaction((trx) =>
    openIncident(trx, { ...acme, ...why, workflowId: "incident", sourceId: "balance" }),
  );
  expect(await countWaitingForIncidents(db, runId)).toBe(1);
});
