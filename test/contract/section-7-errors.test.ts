import { describe, expect } from "vitest";
import { onSandbox, reads } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

describe("errors (API specification, section 7)", () => {
  reads("an error carries a lower snake case code and a message for people", async () => {
    const error = await refusal(world.client.contacts.get("nobody"));
    expect(error.code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(error.message).toContain("404");
  });

  onSandbox(
    "429 comes with Retry-After, in seconds or as a date, and nothing was done",
    async () => {
      const payableId = await world.bill();
      const { payments } = world.client;
      const rule = {
        method: "POST",
        path: "/v1/payments",
        when: "before",
        effect: "status",
      } as const;
      await world.sandbox.control.faults([{ ...rule, status: 429, retryAfter: 3, times: 2 }]);
      const key = newKey();
      for (let time = 0; time < 2; time += 1) {
        const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, key));
        expect(error).toMatchObject({ status: 429, outcome: "not_applied" });
        expect(error.retryAfterMs).toBeGreaterThan(0);
        expect(error.retryAfterMs).toBeLessThanOrEqual(4_000);
      }
      expect((await payments.create({ payableId, ...FROM_BALANCE }, key)).payments).toHaveLength(1);
    },
  );

  onSandbox("an answer that is cut off leaves its effect unknown", async () => {
    const payableId = await world.bill();
    const rule = {
      method: "POST",
      path: "/v1/payments",
      when: "after",
      effect: "malformed",
    } as const;
    await world.sandbox.control.faults([{ ...rule, times: 1 }]);
    const { payments } = world.client;
    const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error.outcome).toBe("unknown");
    expect(await payments.listAll({ payableId })).toHaveLength(1);
  });

  onSandbox("insufficient_balance refuses more than the balance holds", async () => {
    const payableId = await world.bill(5_000_000_00);
    const { payments } = world.client;
    const error = await refusal(payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error).toMatchObject({ code: "insufficient_balance", outcome: "not_applied" });
  });

  onSandbox("contact_not_payable refuses a payee without a bank account", async () => {
    const { id: contactId } = await world.client.contacts.create({ displayName: "Bankless" });
    const pay = { contactId, amountCents: 1_00, ...FROM_BALANCE };
    const error = await refusal(world.client.payments.create(pay, newKey()));
    expect(error.code).toBe("contact_not_payable");
  });

  onSandbox("approval_required refuses a bill that waits for its approval", async () => {
    const contactId = await world.vendor();
    const bill = { contactId, totalAmountCents: 100, status: "pending_approval" };
    const { id } = await world.sandbox.control.createPayable(bill);
    const call = world.client.payments.create({ payableId: id, ...FROM_BALANCE }, newKey());
    expect((await refusal(call)).code).toBe("approval_required");
  });
});
