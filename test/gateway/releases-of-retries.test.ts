import { expect } from "vitest";
import { fundingIncidentId, retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { updateRetry, upsertRetry } from "../../src/store/retries/retries.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import type { TestGateway } from "./support/gateway.ts";
import { approveLines, planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const FAILED = { state: "retrying", paymentIds: ["pmt_1"], attempts: 1 } as const;
const GOES_OUT = "1 bill, $444.00, goes out now:";

const test = gatewayTest()
  .extend("run", { auto: true }, ({ gateway }) =>
    seedRun(gateway.store, { lines: [planLine("p1", { amountCents: 44_400 })] }),
  )
  .extend("controller", { auto: true }, async ({ gateway, run }) => {
    await approveLines(gateway.store, run, ["p1"]);
    return gateway.token("cora", ["controller"]);
  });

const said = async (gateway: TestGateway, controller: string, ...args: readonly string[]) =>
  (await typed(gateway, controller, args)).stdout;

/** Decides about the account that bounced. @returns what is said of it */
const decided = (gateway: TestGateway, controller: string, decision: string) =>
  said(gateway, controller, "incident", "balance", decision, "--reason", "seen");

test("a release names a failed bill that is then paid again", async ({
  gateway,
  run,
  controller,
}) => {
  await setLine(gateway.store, run.runId, "p1", { ...FAILED, reasonCode: "on_hold" });
  await said(gateway, controller, "hold", "BILL-p1", "--reason", "odd");
  expect(await said(gateway, controller, "release", "BILL-p1")).toContain(GOES_OUT);
  await said(gateway, controller, "stop", "--reason", "odd", "--yes");
  expect(await said(gateway, controller, "release", "--all", "--by", "cora", "--yes")).toContain(
    GOES_OUT,
  );
});

test("a release doesn't count a failed bill that waits for its day or its account", async ({
  gateway,
  run,
  controller,
}) => {
  await setLine(gateway.store, run.runId, "p1", { ...FAILED, reasonCode: "R01" });
  await said(gateway, controller, "hold", "BILL-p1", "--reason", "odd");
  expect(await said(gateway, controller, "release", "BILL-p1")).toContain(
    "nothing goes out because of it",
  );
});

test("releasing the hold of an account that bounced names the bills that are then paid again", async ({
  gateway,
  run,
  controller,
}) => {
  await setLine(gateway.store, run.runId, "p1", { ...FAILED, reasonCode: "R01" });
  await waitsForIncident(gateway, run, "p1");
  const [hold] = await activeHolds(gateway.store.db, "biz_acme", Date.now());
  expect(await said(gateway, controller, "release", hold?.holdId ?? "")).toContain(GOES_OUT);
});

test.for<[string, string]>([
  ["--released", "1 bill, $444.00, is paid again, on the next banking day."],
  ["--other-source", "1 bill, $444.00, goes back to the next run, which asks for a new approval."],
])(
  "a decision about an account, %s, says what happens to its bills",
  async ([decision, told], { gateway, run, controller }) => {
    await setLine(gateway.store, run.runId, "p1", { ...FAILED, reasonCode: "R01" });
    await waitsForIncident(gateway, run, "p1");
    expect(await decided(gateway, controller, decision)).toContain(told);
  },
);

test("releasing an account does not name a bill as paid again that another hold is on", async ({
  gateway,
  run,
  controller,
}) => {
  await setLine(gateway.store, run.runId, "p1", { ...FAILED, reasonCode: "R01" });
  await waitsForIncident(gateway, run, "p1");
  await said(gateway, controller, "hold", "BILL-p1", "--reason", "odd");
  const told = await decided(gateway, controller, "--released");
  expect(told).toContain("1 bill, $444.00, is not paid again now: other holds apply to it.");
  expect(told).not.toContain("next banking day");
});

test("releasing an account names other bills that only its hold was on", async ({
  gateway,
  run,
  controller,
}) => {
  await setLine(gateway.store, run.runId, "p1", { state: "on-hold", reasonCode: "on_hold" });
  await waitsForIncident(gateway, run, "other");
  const told = await decided(gateway, controller, "--released");
  expect(told).toContain(GOES_OUT);
});

/** Makes the balance bounce, with a bill that waits for the decision about it. */
async function waitsForIncident(
  gateway: TestGateway,
  run: SeededRun,
  payableId: string,
): Promise<void> {
  const { store } = gateway;
  const of = { businessId: "biz_acme", business: "acme" };
  const key = { businessId: "biz_acme", payableId };
  await store.transaction((trx) =>
    openIncident(trx, {
      ...{ ...of, sourceId: "balance", workflowId: fundingIncidentId("acme", "balance") },
      ...{ code: "R01", reason: "R01", roles: ["controller"], nowMs: 1, failedAtMs: 1 },
    }),
  );
  const workflowId = retryFailedPaymentId("acme", payableId);
  await upsertRetry(store.db, { ...of, payableId, workflowId, runId: run.runId, nowMs: 1 });
  await updateRetry(store.db, key, { phase: "waiting" }, 2);
  await keepRetryCase(store.db, {
    ...{ ...key, sourceId: "balance", waitsFor: "incident", failedAtMs: 1, failedRealMs: 1 },
    rule: {
      ...{ codes: ["R01"], words: [], action: "retry", pause: true, payAgain: false },
      ...{ when: "when-released", atMost: 2, by: ["controller"] },
    },
    ...{ giveUpAfterDays: 30, giveUpNotify: [] },
  });
}
