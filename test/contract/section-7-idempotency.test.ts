import { randomUUID } from "node:crypto";
import { describe, expect } from "vitest";
import { PaymentUnconfirmedError } from "../../src/payments-api/index.ts";
import type { FaultRule } from "../support/sandbox.ts";
import { onSandbox, pays, reads, writes } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal, unique } from "./world.ts";

const world = contractWorld();

async function onPayments(fault: Partial<FaultRule>): Promise<void> {
  const rule = { method: "POST", path: "/v1/payments", when: "after", effect: "status", times: 1 };
  await world.sandbox.control.faults([{ ...rule, ...fault } as FaultRule]);
}

describe("idempotency (API specification, section 7)", () => {
  onSandbox(
    "the same key and request replays the first answer and does not run again",
    async () => {
      const payableId = await world.bill();
      const key = newKey();
      const first = await world.client.payments.create({ payableId, ...FROM_BALANCE }, key);
      const again = await world.client.payments.create({ payableId, ...FROM_BALANCE }, key);
      expect(again).toEqual(first);
      expect(await world.client.payments.listAll({ payableId })).toHaveLength(1);
    },
  );

  onSandbox("key order does not change the fingerprint", async () => {
    const payableId = await world.bill();
    const key = newKey();
    const first = await world.client.payments.create({ payableId, ...FROM_BALANCE }, key);
    const again = await world.client.payments.create({ ...FROM_BALANCE, payableId }, key);
    expect(again).toEqual(first);
  });

  onSandbox(
    "the same key with another body, or on another path, is an idempotency_conflict",
    async () => {
      const payableId = await world.bill();
      const key = newKey();
      const { payments } = world.client;
      const made = await payments.create({ payableId, amountCents: 1_00, ...FROM_BALANCE }, key);
      const body = await refusal(
        payments.create({ payableId, amountCents: 2_00, ...FROM_BALANCE }, key),
      );
      expect(body).toMatchObject({ status: 409, code: "idempotency_conflict", outcome: "unknown" });
      const path = await refusal(payments.cancel(made.payments[0]?.id ?? "", {}, key));
      expect(path.code).toBe("idempotency_conflict");
    },
  );

  onSandbox("a money write without a key is a validation_error", async () => {
    const body = { payableId: await world.bill(), ...FROM_BALANCE };
    const answer = await world.api("POST", "/v1/payments", { body });
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toBe("validation_error");
  });

  onSandbox("a key of 64 characters is taken, and one of 65 never leaves the client", async () => {
    const payableId = await world.bill();
    const { payments } = world.client;
    const longest = { idempotencyKey: randomUUID().padEnd(64, "x") };
    expect((await payments.create({ payableId, ...FROM_BALANCE }, longest)).payments).toHaveLength(
      1,
    );
    const tooLong = { idempotencyKey: "x".repeat(65) };
    await expect(payments.create({ payableId, ...FROM_BALANCE }, tooLong)).rejects.toThrow(
      TypeError,
    );
  });

  onSandbox(
    "after a 5xx of a started money write every retry answers 409 payment_unconfirmed",
    async () => {
      const payableId = await world.bill();
      const key = newKey();
      await onPayments({ status: 500 });
      const { payments } = world.client;
      const first = await refusal(payments.create({ payableId, ...FROM_BALANCE }, key));
      expect(first).toMatchObject({ status: 500, outcome: "unknown" });
      for (let retry = 0; retry < 2; retry += 1) {
        const again = await refusal(payments.create({ payableId, ...FROM_BALANCE }, key));
        expect(again).toBeInstanceOf(PaymentUnconfirmedError);
        expect(again).toMatchObject({ status: 409, outcome: "unknown" });
      }
      expect(await payments.listAll({ payableId })).toHaveLength(1);
    },
  );

  onSandbox("an answer that is lost is replayed under the same key", async () => {
    const payableId = await world.bill();
    const key = newKey();
    await onPayments({ effect: "drop" });
    const lost = await refusal(world.client.payments.create({ payableId, ...FROM_BALANCE }, key));
    expect(lost).toMatchObject({ code: "no_answer", outcome: "unknown" });
    const replayed = await world.client.payments.create({ payableId, ...FROM_BALANCE }, key);
    const found = await world.client.payments.listAll({ payableId });
    expect(found.map(({ id }) => id)).toEqual(replayed.payments.map(({ id }) => id));
  });

  onSandbox("a 4xx is stored and replayed, also once its cause is lifted", async () => {
    const contactId = await world.vendor();
    const key = newKey();
    const wrong = { contactId, amountCents: 0, ...FROM_BALANCE };
    const first = await refusal(world.client.payments.create(wrong, key));
    const again = await refusal(world.client.payments.create(wrong, key));
    expect([first.status, again.status]).toEqual([422, 422]);
    expect(again.message).toBe(first.message);
  });

  onSandbox(
    "a state refusal is not stored, so the same key pays once its cause is lifted",
    async () => {
      const payableId = await world.bill();
      const key = newKey();
      await world.sandbox.control.changeBusiness({ paymentsLocked: true });
      const { payments } = world.client;
      const locked = await refusal(payments.create({ payableId, ...FROM_BALANCE }, key));
      expect(locked).toMatchObject({ code: "payments_locked", outcome: "not_applied" });
      await world.sandbox.control.changeBusiness({ paymentsLocked: false });
      expect((await payments.create({ payableId, ...FROM_BALANCE }, key)).payments).toHaveLength(1);
    },
  );

  onSandbox("keys belong to the business: two clients of one business share them", async () => {
    const payableId = await world.bill();
    const key = newKey();
    const first = await world.client.payments.create({ payableId, ...FROM_BALANCE }, key);
    const other = world.clientWith(await world.sandbox.control.token());
    expect(await other.payments.create({ payableId, ...FROM_BALANCE }, key)).toEqual(first);
  });

  reads("the writes that need a key answer 400 validation_error without one", async () => {
    for (const path of ["/v1/payments", "/v1/balance/deposits", "/v1/balance/withdrawals"]) {
      const { status, body } = await world.api("POST", path, { body: {} });
      // A token that may not pay is refused before its missing key is noticed.
      if (status === 403) continue;
      expect({ path, status, error: body["error"] }).toEqual({
        path,
        status: 400,
        error: "validation_error",
      });
    }
  });

  writes("an optional key is replayed, also for a contact", async () => {
    const contact = { displayName: unique("Once") };
    const key = newKey();
    const first = await world.contact(contact, key);
    expect((await world.client.contacts.create(contact, key)).id).toBe(first.id);
    const { totalCount } = await world.client.contacts.list({ search: contact.displayName });
    expect(totalCount).toBe(1);
  });

  writes("the same key with another body answers 409 idempotency_conflict", async () => {
    const key = newKey();
    await world.contact({ displayName: unique("First") }, key);
    const other = world.client.contacts.create({ displayName: unique("Second") }, key);
    expect(await refusal(other)).toMatchObject({ status: 409, code: "idempotency_conflict" });
  });

  pays(
    "a payment is made once per key: replayed, and a conflict with another body",
    async (context) => {
      const cent = await world.oneCent();
      const key = newKey();
      const made = await world.scheduleOneCent(cent, key, context);
      const { payments } = world.client;
      try {
        expect(await payments.create(cent, key)).toEqual(made);
        const other = await refusal(payments.create({ ...cent, amountCents: 2 }, key));
        expect(other).toMatchObject({ status: 409, code: "idempotency_conflict" });
        const payableId = made.payableId ?? "";
        expect(await payments.listAll({ payableId })).toHaveLength(1);
      } finally {
        await payments.cancel(made.payments[0]?.id ?? "", {}, newKey());
      }
    },
  );
});
