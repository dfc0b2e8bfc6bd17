import { describe, expect } from "vitest";
import { onSandbox } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

describe("the life of a payment (API specification, section 3)", () => {
  onSandbox("it completes, and processedAt is null until then", async () => {
    const payableId = await world.bill();
    const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    expect(made.payments[0]?.processedAt).toBeNull();
    await world.sandbox.control.advance("P8D");
    const after = await world.client.payments.get(made.payments[0]?.id ?? "");
    expect(after.status).toBe("completed");
    expect(after.processedAt).not.toBeNull();
  });

  onSandbox("a failed payment says why", async () => {
    const payableId = await world.bill();
    await world.sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R02" });
    const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    await world.sandbox.control.advance("P8D");
    const after = await world.client.payments.get(made.payments[0]?.id ?? "");
    expect(after.status).toBe("failed");
    expect(after.failureReason).toContain("R02");
  });

  onSandbox("retry-payment makes a payment of its own, and the failed one stays", async () => {
    const payableId = await world.bill();
    const rule = { match: { payableId }, outcome: "fail", code: "R01", times: 1 } as const;
    await world.sandbox.control.outcome(rule);
    await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    await world.sandbox.control.advance("P8D");
    await world.client.payments.retry(payableId, newKey());
    const found = await world.client.payments.listAll({ payableId });
    expect(found).toHaveLength(2);
    expect(found[1]?.status).toBe("failed");
  });

  onSandbox("cancelling a scheduled payment moves no money", async () => {
    const payableId = await world.bill();
    const scheduledAt = await world.dayAfterTomorrow();
    const pay = { payableId, scheduledAt, ...FROM_BALANCE };
    const { payments } = await world.client.payments.create(pay, newKey());
    const id = payments[0]?.id ?? "";
    const cancelled = await world.client.payments.cancel(id, { reason: "wrong" }, newKey());
    expect(cancelled.payment).toMatchObject({ id, status: "cancelled" });
    expect(cancelled.message).not.toBe("");
    const ledger = await world.sandbox.control.ledger();
    expect(ledger.filter((entry) => entry.paymentId === id)).toEqual([]);
  });

  onSandbox(
    "a payment that is neither held nor scheduled can't be cancelled; details.status says why",
    async () => {
      const payableId = await world.bill();
      const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
      await world.sandbox.control.advance("P8D");
      const id = made.payments[0]?.id ?? "";
      const error = await refusal(world.client.payments.cancel(id, {}, newKey()));
      expect(error.code).toBe("payment_not_cancellable");
      expect(error.details).toMatchObject({ status: "completed" });
    },
  );
});
