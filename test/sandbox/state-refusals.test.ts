import { describe, expect } from "vitest";
import { sandboxTest } from "./sandbox-test.ts";
import { makeBill, makeVendor, newYorkDay, pay, unique } from "./world.ts";

const it = sandboxTest("blank");

describe("state refusals (API specification, section 7)", () => {
  it.for(["draft", "pending_approval", "declined", "blocked", "void"])(
    "paying a bill that is %s is refused until it is approved",
    async (status, { sandbox }) => {
      const payableId = await makeBill(sandbox, { status });
      expect(await pay(sandbox, { payableId })).toMatchObject({
        status: 409,
        body: { error: "approval_required", details: { status } },
      });
    },
  );

  it("a vendor without a bank account, or one that is archived or revoked, can't be paid", async ({
    sandbox,
  }) => {
    const without = await makeVendor(sandbox, { bankAccount: undefined });
    const archived = await makeVendor(sandbox);
    await sandbox.api("POST", `/v1/contacts/${archived}/archive`);
    const revoked = await makeVendor(sandbox);
    await sandbox.control.changeContact(revoked, { status: "revoked" });
    const payer = await makeVendor(sandbox);
    await sandbox.control.changeContact(payer, { paymentDirection: "can_pay" });
    const bills = await Promise.all(
      [without, archived, revoked, payer, null].map((contactId) =>
        makeBill(sandbox, { contactId }),
      ),
    );
    for (const payableId of bills) {
      expect(await pay(sandbox, { payableId })).toMatchObject({
        status: 422,
        body: { error: "contact_not_payable" },
      });
    }
  });

  it("an amount above what is owed, or already in progress, is refused", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    expect(await pay(sandbox, { payableId, amountCents: 1_001 })).toMatchObject({
      status: 422,
      body: { error: "validation_error", details: { field: "amountCents" } },
    });
    await pay(sandbox, { payableId, amountCents: 700 });
    const inProgress = { status: 409, body: { error: "payment_in_progress" } };
    expect(await pay(sandbox, { payableId, amountCents: 301 })).toMatchObject(inProgress);
    expect((await pay(sandbox, { payableId })).status).toBe(201);
    expect(await pay(sandbox, { payableId })).toMatchObject(inProgress);
    await sandbox.control.advance("P7D");
    expect(await pay(sandbox, { payableId })).toMatchObject({
      status: 422,
      body: { error: "validation_error" },
    });
  });

  it("a payment above the available balance is refused; scheduled payments reserve nothing", async ({
    sandbox,
  }) => {
    const bills = await Promise.all(
      [600_000_00, 600_000_00, 600_000_00].map((totalAmountCents) =>
        makeBill(sandbox, { totalAmountCents }),
      ),
    );
    expect((await pay(sandbox, { payableId: bills[0] })).status).toBe(201);
    expect(await pay(sandbox, { payableId: bills[1] })).toMatchObject({
      status: 409,
      body: { error: "insufficient_balance", details: { availableCents: 400_000_00 } },
    });
    const scheduledAt = await newYorkDay(sandbox, 1);
    expect((await pay(sandbox, { payableId: bills[2], scheduledAt })).status).toBe(201);
    const { body } = await sandbox.api("GET", "/v1/balance");
    expect(body["availableCents"]).toBe(400_000_00);
  });

  it("a payment refused for the business's state is accepted later under the same key", async ({
    sandbox,
  }) => {
    const payableId = await makeBill(sandbox, { totalAmountCents: 1_000 });
    const part = { payableId, amountCents: 100 };
    const states: [object, object, number, string, object?][] = [
      [{ paymentsLocked: true }, { paymentsLocked: false }, 409, "payments_locked"],
      [{ setup: "incomplete" }, { setup: "complete" }, 409, "setup_incomplete"],
      [{ verification: "suspended" }, { verification: "verified" }, 409, "setup_incomplete"],
      [
        { features: { balance: false } },
        { features: { balance: true } },
        403,
        "feature_unavailable",
      ],
      [
        { features: { acceleratedClearing: false } },
        { features: { acceleratedClearing: true } },
        403,
        "feature_unavailable",
        { clearing: "NEXT_AVAILABLE" },
      ],
    ];
    for (const [bad, good, status, error, more] of states) {
      const key = unique("k");
      await sandbox.control.changeBusiness({ ...bad });
      const refused = await pay(sandbox, { ...part, ...more }, key);
      expect(refused).toMatchObject({ status, body: { error } });
      await sandbox.control.changeBusiness({ ...good });
      expect((await pay(sandbox, { ...part, ...more }, key)).status).toBe(201);
    }
  });

  it("an unverified business can't pay or read its balance until its setup is complete", async ({
    sandbox,
  }) => {
    await sandbox.control.reset("unverified");
    const payableId = await makeBill(sandbox);
    expect(await pay(sandbox, { payableId })).toMatchObject({
      status: 409,
      body: { error: "setup_incomplete" },
    });
    expect(await sandbox.api("GET", "/v1/balance")).toMatchObject({
      status: 409,
      body: { error: "setup_required", details: { actionUrl: expect.any(String) } },
    });
    await sandbox.control.changeBusiness({ verification: "verified", balanceCents: 100_000 });
    expect((await pay(sandbox, { payableId })).status).toBe(201);
  });
});
