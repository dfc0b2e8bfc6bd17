import { describe, expect } from "vitest";
import { onSandbox, pays } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

describe("creating payments (API specification, section 4)", () => {
  onSandbox("without an amount it pays what is unpaid of the payable", async () => {
    const payableId = await world.bill(77_00);
    const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    expect(made.payableId).toBe(payableId);
    expect(made.payments).toHaveLength(1);
    expect(made.payments[0]).toMatchObject({ amountCents: 77_00, payableId });
  });

  onSandbox("a smaller amount is a partial payment", async () => {
    const payableId = await world.bill(100_00);
    const pay = { payableId, amountCents: 40_00, ...FROM_BALANCE };
    const { payments } = await world.client.payments.create(pay, newKey());
    expect(payments[0]?.amountCents).toBe(40_00);
  });

  onSandbox(
    "a large amount is split into payments whose amounts sum to the requested total",
    async () => {
      const payableId = await world.bill(250_000_01);
      const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
      expect(made.payments.length).toBeGreaterThan(1);
      const sum = made.payments.reduce((total, { amountCents }) => total + amountCents, 0);
      expect(sum).toBe(250_000_01);
    },
  );

  onSandbox("both payableId and contactId, and neither, are a validation error", async () => {
    const payableId = await world.bill();
    const contactId = await world.vendor();
    const both = { payableId, contactId, amountCents: 1, ...FROM_BALANCE };
    const neither = { amountCents: 1, ...FROM_BALANCE };
    for (const body of [both, neither]) {
      const path = "/v1/payments";
      const answer = await world.api("POST", path, { body, key: newKey().idempotencyKey });
      expect(answer.status).toBe(400);
      expect(answer.body["error"]).toBe("validation_error");
    }
  });

  onSandbox("a payment with contactId generates a payable", async () => {
    const contactId = await world.vendor();
    const pay = { contactId, amountCents: 9_00, description: "Deposit", ...FROM_BALANCE };
    const made = await world.client.payments.create(pay, newKey());
    expect(made.payableId).not.toBeNull();
    const bill = await world.client.payables.get(made.payableId ?? "");
    expect(bill).toMatchObject({ totalAmountCents: 9_00, contact: { id: contactId } });
  });

  onSandbox("an amount below one cent is refused with 422", async () => {
    const payableId = await world.bill();
    const call = world.client.payments.create(
      { payableId, amountCents: 0, ...FROM_BALANCE },
      newKey(),
    );
    expect((await refusal(call)).status).toBe(422);
  });

  onSandbox(
    "a date in the future makes a scheduled payment that runs at 9:00 in New York",
    async () => {
      const payableId = await world.bill();
      const scheduledAt = await world.dayAfterTomorrow();
      const pay = { payableId, scheduledAt, ...FROM_BALANCE };
      const { payments } = await world.client.payments.create(pay, newKey());
      const [payment] = payments;
      expect(payment?.status).toBe("scheduled");
      const hour = new Date(payment?.scheduledAt ?? "").toLocaleString("en-GB", {
        timeZone: "America/New_York",
        hour: "2-digit",
        minute: "2-digit",
      });
      expect(hour).toBe("09:00");
    },
  );

  onSandbox("a date of today or the past is refused with 422", async () => {
    const payableId = await world.bill();
    const { bank } = await world.sandbox.control.clock();
    const dayBefore = new Date(Date.parse(bank) - 86_400_000).toISOString().slice(0, 10);
    const pay = { payableId, scheduledAt: dayBefore, ...FROM_BALANCE };
    expect((await refusal(world.client.payments.create(pay, newKey()))).status).toBe(422);
  });
});

describe("reading payments (API specification, section 4)", () => {
  onSandbox("payableId finds all payments of a bill, newest first", async () => {
    const payableId = await world.bill(100_00);
    const ids: string[] = [];
    for (const amountCents of [10_00, 20_00, 30_00]) {
      const pay = { payableId, amountCents, ...FROM_BALANCE };
      const { payments } = await world.client.payments.create(pay, newKey());
      ids.unshift(payments[0]?.id ?? "");
    }
    const found = await world.client.payments.listAll({ payableId });
    expect(found.map(({ id }) => id)).toEqual(ids);
  });

  onSandbox(
    "GET /v1/payments/{paymentId} reads one payment, and 404 answers for no payment",
    async () => {
      const payableId = await world.bill();
      const { payments } = await world.client.payments.create(
        { payableId, ...FROM_BALANCE },
        newKey(),
      );
      const id = payments[0]?.id ?? "";
      expect(await world.client.payments.get(id)).toMatchObject({ id, payableId });
      expect((await refusal(world.client.payments.get("none"))).code).toBe("not_found");
    },
  );

  onSandbox("createdAfter is inclusive and createdBefore is exclusive", async () => {
    const payableId = await world.bill();
    const made = await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
    const at = made.payments[0]?.createdAt ?? "";
    const { payments } = world.client;
    expect(await payments.listAll({ payableId, createdAfter: at })).toHaveLength(1);
    expect(await payments.listAll({ payableId, createdBefore: at })).toHaveLength(0);
  });

  onSandbox("a pageSize above 100 is refused, and totalCount counts all pages", async () => {
    const payableId = await world.bill(100_00);
    for (const amountCents of [1_00, 2_00, 3_00]) {
      await world.client.payments.create({ payableId, amountCents, ...FROM_BALANCE }, newKey());
    }
    const { payments } = world.client;
    const page = await payments.list({ payableId, page: 2, pageSize: 2 });
    expect(page.items).toHaveLength(1);
    expect(page.totalCount).toBe(3);
    const tooMany = await refusal(payments.list({ pageSize: 101 }));
    expect([400, 422]).toContain(tooMany.status);
  });
});

describe("scheduling and cancelling (API specification, sections 3 and 4)", () => {
  pays(
    "a scheduled payment runs at 9:00 in New York, and cancelled it moves no money",
    async (context) => {
      const cent = await world.oneCent();
      const { payments } = world.client;
      const made = await world.scheduleOneCent(cent, newKey(), context);
      const [payment] = made.payments;
      const id = payment?.id ?? "";
      const cancelled = await payments.cancel(id, { reason: "conformance" }, newKey());
      expect(payment).toMatchObject({ status: "scheduled", amountCents: 1 });
      const zoned = new Date(payment?.scheduledAt ?? "").toLocaleString("sv-SE", {
        timeZone: "America/New_York",
      });
      expect(zoned).toBe(`${cent.scheduledAt} 09:00:00`);
      expect(cancelled.payment).toMatchObject({ id, status: "cancelled" });
      const again = await refusal(payments.cancel(id, {}, newKey()));
      expect(again).toMatchObject({
        code: "payment_not_cancellable",
        details: { status: "cancelled" },
      });
    },
  );
});
