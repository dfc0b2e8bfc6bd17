import { expect, test } from "vitest";
import { ALARMS } from "../../../src/domain/payments/alarms.ts";
import { CHANGED_RECORD } from "../../../src/domain/approvals/changed-records.ts";
import { changeTopUp, insertTopUp } from "../../../src/store/deposits/deposits.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import type { Store } from "../../../src/store/index.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { updateRetry, upsertRetry } from "../../../src/store/retries/retries.ts";
import { runStand } from "../../../src/store/runs/run-stand.ts";
import { setRunPhase } from "../../../src/store/runs/runs.ts";
import { approval, approvedRun } from "../approved-run.ts";
import { testStore } from "../support.ts";

/** Before the approvals of `approvedRun` expire. */
const NOW = 5_000;

/** Makes a run of bills in these states, each with the reason that is given after a colon. */
async function runOf(store: Store, ...lines: readonly string[]): Promise<string> {
  const runId = await approvedRun(
    store,
    "weekly",
    lines.map((_, index) => `p${index}`),
  );
  for (const [index, line] of lines.entries()) {
    const [state = "", reasonCode = null] = line.split(":");
    const change = { state, reasonCode } as Parameters<typeof changeLine>[2];
    await changeLine(store.db, { runId, payableId: `p${index}` }, change, 10);
  }
  return runId;
}

async function stands(...lines: readonly string[]) {
  const { store } = await testStore();
  const runId = await runOf(store, ...lines);
  const said = async (atMs = NOW) => {
    const { needsAction, isFinal } = await runStand(store.db, runId, atMs);
    return needsAction ? "needs action" : isFinal ? "final" : "goes on";
  };
  return { store, runId, said };
}

test.each([
  ["goes on", ["planned"]],
  ["goes on", ["scheduled", "settled"]],
  ["needs action", ["awaiting-approval", "scheduled"]],
  ["needs action", ["parked", "settled"]],
  ["goes on", ["parked:approval_expired", "scheduled"]],
  ["goes on", ["on-hold"]],
  ["needs action", [`retrying:${CHANGED_RECORD}`]],
  ["goes on", ["retrying:R01"]],
])("an open run %s if its bills are %j", async (stand, lines) => {
  expect(await (await stands(...lines)).said()).toBe(stand);
});

test.each([
  ["final", ["settled", "returned", "refunded", "paid-elsewhere", "skipped"]],
  ["final", [`cancelled:${ALARMS[0] ?? ""}`, "given-up"]],
  ["goes on", ["retrying:R01", "settled"]],
  ["goes on", ["scheduled", "settled"]],
  ["needs action", ["parked:R03", "settled"]],
  ["needs action", [`retrying:${CHANGED_RECORD}`]],
  ["final", ["parked:approval_expired"]],
])("a run that has ended is %s if its bills are %j", async (stand, lines) => {
  const { store, runId, said } = await stands(...lines);
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 20 });
  expect(await said()).toBe(stand);
});

test("a bill on hold needs action once its approval has expired", async () => {
  const { said } = await stands("on-hold");
  expect([await said(9_999), await said(10_001)]).toEqual(["goes on", "needs action"]);
});

test("a parked bill waits for nobody once its retry has given it back", async () => {
  const { store, runId, said } = await stands("parked:R03");
  await setRunPhase(store.db, runId, { phase: "completed", endedAtMs: 20 });
  const key = { businessId: "biz_1", payableId: "p0" };
  await upsertRetry(store.db, { ...key, business: "acme", workflowId: "w", runId, nowMs: 30 });
  expect(await said()).toBe("needs action");
  await updateRetry(store.db, key, { phase: "ended" }, 40);
  expect(await said()).toBe("final");
});

test("a run needs action while its deposit lacks an approval, can't be accounted for, or is late", async () => {
  const { store, runId, said } = await stands("planned");
  const subject = `deposit/balance/${runId}/1`;
  const asked = {
    ...{ businessId: "biz_1", sourceId: "balance", subject, business: "acme", owner: runId },
    ...{ requestNo: 1, policyRunId: runId, amountCents: 5_000, late: false, planHash: "plan" },
    ...{ neededOn: "1970-01-05", makeBy: "1970-01-02", arrivesOn: "1970-01-04" },
    account: { bankAccountId: "bank_1", name: null, last4: "1234" },
    ...{ hash: "hash", approvers: ["owner"], quorum: 2, sinceMs: 1, nowMs: 100 },
  };
  const approved = (by: string) =>
    store.transaction((trx) =>
      recordDecision(trx, {
        ...approval(runId, by, [{ payableId: subject, lineHash: "hash", ruleIndex: 0 }] as never),
        runId: subject,
      }),
    );
  await store.transactionOf("biz_1", (trx) => insertTopUp(trx, asked));
  await approved("carol");
  expect(await said()).toBe("needs action");
  await approved("dora");
  expect(await said()).toBe("goes on");
  const changed = (change: Parameters<typeof changeTopUp>[3]) =>
    store.transactionOf("biz_1", (trx) =>
      changeTopUp(trx, asked, ["proposed", "sending"], change, 200),
    );
  await changed({ state: "sending", reasonCode: "unclear" });
  expect(await said()).toBe("needs action");
  await changed({ state: "on-its-way", reasonCode: null });
  const DAY = 86_400_000;
  expect([await said(3 * DAY), await said(5 * DAY)]).toEqual(["goes on", "needs action"]);
});
