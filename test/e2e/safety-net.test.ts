import { expect, test } from "vitest";
import { isLong } from "../support/long.ts";
import { paidOnce } from "../support/payrun.ts";
import { approve, plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

test.runIf(isLong)(
  "a vendor's bank account that changes after the approval raises an alarm and cancels the payment",
  async () => {
    const payrun = await start();
    const { runId, made } = await plannedRun(payrun, [100_00]);
    await approve(payrun, runId);
    await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
    const [bill] = made;
    await payrun.sandbox.control.changeContact(bill?.contactId ?? "", {
      bankAccount: { accountNumber: "000999998888", routingNumber: "021000021" },
    });
    const status = await payrun.until(
      runId,
      "alarmed",
      ({ payments }) => payments[0]?.reasonCode === "payee_changed_after_approval",
    );
    expect(status.payments[0]?.reason).toContain("••8888");
    const done = await payrun.untilPhase(runId, "completed-with-exceptions");
    expect(done.payments[0]).toMatchObject({
      state: "cancelled",
      reasonCode: "payee_changed_after_approval",
    });
    await payrun.sandbox.control.advance("P14D");
    expect((await paidOnce(payrun, new Map())).actual).toEqual(new Map());
    const holds = await payrun.call<{ items: { contactId?: string }[] }>(
      "operator",
      "GET",
      "/v1/holds",
    );
    expect(JSON.stringify(holds.body)).toContain(bill?.contactId);
  },
);
