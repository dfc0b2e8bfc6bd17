import { describe, expect } from "vitest";
import { onSandbox, reads, writes } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

describe("payables (API specification, sections 2, 3 and 4)", () => {
  onSandbox("remainingAmountCents equals totalAmountCents minus amountPaidCents", async () => {
    const id = await world.bill(123_45);
    const bill = await world.client.payables.get(id);
    expect(bill).toMatchObject({
      status: "approved",
      paymentStatus: "none",
      totalAmountCents: 123_45,
      amountPaidCents: 0,
      remainingAmountCents: 123_45,
    });
  });

  onSandbox("a payable's contact carries the id of the contact", async () => {
    const contactId = await world.vendor();
    const { id } = await world.sandbox.control.createPayable({ contactId, totalAmountCents: 1 });
    expect((await world.client.payables.get(id)).contact.id).toBe(contactId);
  });

  onSandbox("GET /v1/payables filters by status", async () => {
    const contactId = await world.vendor();
    const totalAmountCents = 5_00;
    const bill = { contactId, totalAmountCents, status: "declined" };
    const { id } = await world.sandbox.control.createPayable(bill);
    const declined = await world.client.payables.list({ status: "declined" });
    expect(declined.items.map((each) => each.id)).toEqual([id]);
    const approved = await world.client.payables.list({ status: "approved", pageSize: 100 });
    expect(approved.items.map((each) => each.id)).not.toContain(id);
  });

  onSandbox("submit takes a draft with a linked vendor into the approval flow", async () => {
    const contactId = await world.vendor();
    const items = [{ name: "Paper", quantity: 2, unitAmountCents: 250 }];
    const draft = await world.client.payables.create({ contactId, items }, newKey());
    expect(draft.status).toBe("draft");
    const submitted = await world.client.payables.submit(draft.id, newKey());
    expect(submitted.status).not.toBe("draft");
    expect(submitted.totalAmountCents).toBe(5_00);
    expect(submitted.items[0]).toMatchObject({ quantity: 2, totalCents: 500 });
  });

  onSandbox(
    "submit refuses a bill that is no draft, or has no vendor, with validation_error",
    async () => {
      const { payables } = world.client;
      const approved = await refusal(payables.submit(await world.bill()));
      expect(approved.code).toBe("validation_error");
      const { id } = await payables.create({ totalAmountCents: 100 });
      expect((await refusal(payables.submit(id))).code).toBe("validation_error");
    },
  );

  writes("a payable total below one cent is refused with 422", async () => {
    const contactId = await world.vendor();
    const call = world.client.payables.create({ contactId, totalAmountCents: 0 });
    expect((await refusal(call)).status).toBe(422);
  });

  reads("an unknown payable, and one of another organization, answers 404 not_found", async () => {
    const error = await refusal(world.client.payables.get("nobody"));
    expect(error).toMatchObject({ status: 404, code: "not_found", outcome: "not_applied" });
  });

  onSandbox("a settled bill has been paid and has nothing left", async () => {
    const payableId = await world.bill(100_00);
    await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    await world.sandbox.control.advance("P8D");
    expect(await world.client.payables.get(payableId)).toMatchObject({
      paymentStatus: "settled",
      amountPaidCents: 100_00,
      remainingAmountCents: 0,
    });
  });
});
