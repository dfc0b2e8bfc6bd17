import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { mondayTest } from "../sandbox-test.ts";
import {
  bankDetails,
  makeBill,
  makeVendor,
  movesOf,
  pay,
  type Payment,
  paymentsOf,
  statusesOf,
  unique,
} from "../world.ts";

// The test account numbers of docs/sandbox.md, which work without a call of the control API.

const it = mondayTest();

function vendorOf(sandbox: TestSandbox, accountNumber: string): Promise<string> {
  return makeVendor(sandbox, { bankAccount: { ...bankDetails, accountNumber } });
}

async function paidBill(
  sandbox: TestSandbox,
  accountNumber: string,
  totalAmountCents = 1_000,
): Promise<string> {
  const contactId = await vendorOf(sandbox, accountNumber);
  const payableId = await makeBill(sandbox, { contactId, totalAmountCents });
  await pay(sandbox, { payableId });
  return payableId;
}

describe("a vendor whose account number is a test number", () => {
  it("payments to 0009991001 to 0009991029 fail with the code of the last two digits", async ({
    sandbox,
  }) => {
    const codes = ["01", "02", "03", "04", "05", "07", "08", "09", "10", "11", "12"].concat([
      "13",
      "14",
      "15",
      "16",
      "17",
      "20",
      "23",
      "24",
      "29",
    ]);
    const bills = new Map<string, string>();
    for (const digits of codes) bills.set(digits, await paidBill(sandbox, `00099910${digits}`));
    await sandbox.control.advance("P3D");
    for (const [digits, payableId] of bills) {
      expect(await paymentsOf(sandbox, payableId)).toMatchObject([
        { status: "failed", failureReason: expect.stringMatching(new RegExp(`^R${digits} \\w`)) },
      ]);
    }
    expect(await movesOf(sandbox, bills.get("01") ?? "")).toEqual(["debit", "return"]);
    expect(await movesOf(sandbox, bills.get("02") ?? "")).toHaveLength(4);
  });

  it("a payment to 0009992010 settles, and is returned with R10 a banking day later", async ({
    sandbox,
  }) => {
    const payableId = await paidBill(sandbox, "0009992010");
    await sandbox.control.setClock("2029-03-14T12:30:00Z");
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
    await sandbox.control.setClock("2029-03-15T12:30:00Z");
    expect(await paymentsOf(sandbox, payableId)).toMatchObject([
      { status: "returned", failureReason: "R10 Customer advises not authorized" },
    ]);
  });

  it("a payment to 0009993000 is held until it is cancelled, one to 0009993003 for three days", async ({
    sandbox,
  }) => {
    const [forEver, threeDays] = [
      await paidBill(sandbox, "0009993000"),
      await paidBill(sandbox, "0009993003"),
    ];
    await sandbox.control.advance("P2D");
    expect(await statusesOf(sandbox, threeDays)).toEqual(["held"]);
    await sandbox.control.advance("P30D");
    expect(await statusesOf(sandbox, threeDays)).toEqual(["completed"]);
    const [held] = await paymentsOf(sandbox, forEver);
    expect(held?.status).toBe("held");
    const cancelled = await sandbox.api<{ payment: Payment }>(
      "POST",
      `/v1/payments/${held?.id}/cancel`,
      { key: unique("cancel") },
    );
    expect(cancelled.body.payment.status).toBe("refunded");
  });

  it("a bill paid to 0009994003 is split into three payments that add up to its amount", async ({
    sandbox,
  }) => {
    const payableId = await paidBill(sandbox, "0009994003", 1_000);
    const payments = await paymentsOf(sandbox, payableId);
    expect(payments.map(({ amountCents }) => amountCents)).toEqual([334, 334, 332]);
    const tiny = await paidBill(sandbox, "0009994020", 3);
    expect(await statusesOf(sandbox, tiny)).toHaveLength(3);
    await sandbox.control.advance("P3D");
    expect((await sandbox.api("GET", `/v1/payables/${payableId}`)).body).toMatchObject({
      paymentStatus: "settled",
      amountPaidCents: 1_000,
    });
  });

  it.for(["0009991006", "0009995001", "000999100", "10009991001", "000123456789"])(
    "%s is no test number: a payment to it completes",
    async (number, { sandbox }) => {
      const payableId = await paidBill(sandbox, number);
      await sandbox.control.advance("P3D");
      expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
    },
  );

  it("a control API outcome or a new account number takes precedence over a test number", async ({
    sandbox,
  }) => {
    const settling = await vendorOf(sandbox, "0009991002");
    await sandbox.control.outcome({ match: { contactId: settling }, outcome: "settle" });
    const moved = await vendorOf(sandbox, "0009991002");
    await sandbox.control.changeContact(moved, { bankAccount: bankDetails });
    const turned = await makeVendor(sandbox);
    await sandbox.control.changeContact(turned, {
      bankAccount: { ...bankDetails, accountNumber: "0009991004" },
    });
    const bills: string[] = [];
    for (const contactId of [settling, moved, turned]) {
      bills.push(await makeBill(sandbox, { contactId }));
    }
    for (const payableId of bills) await pay(sandbox, { payableId });
    await sandbox.control.advance("P3D");
    const statuses = await Promise.all(bills.map((payableId) => statusesOf(sandbox, payableId)));
    expect(statuses).toEqual([["completed"], ["completed"], ["failed"]]);
  });
});

describe("a bank account of the business whose number is a test number", () => {
  it.beforeEach(async ({ sandbox }) => {
    await sandbox.control.reset({
      businesses: [
        {
          name: "Short of Funds",
          balanceCents: 1_000,
          bankAccounts: [{ id: "ba_short", accountNumber: "0009991001" }],
          contacts: [{ id: "con_1", displayName: "Vendor", bankAccount: { last4: "1234" } }],
          payables: [{ id: "pbl_1", contactId: "con_1", totalAmountCents: 500 }],
        },
      ],
    });
  });

  it("a payment and a deposit from 0009991001 fail with insufficient funds", async ({
    sandbox,
  }) => {
    await sandbox.api("POST", "/v1/payments", {
      key: unique("k"),
      body: { payableId: "pbl_1", bankAccountId: "ba_short" },
    });
    await sandbox.api("POST", "/v1/balance/deposits", {
      key: unique("k"),
      body: { amountCents: 700, bankAccountId: "ba_short" },
    });
    await sandbox.control.advance("P6D");
    const failed = { status: "failed", failureReason: "R01 Insufficient funds" };
    expect(await paymentsOf(sandbox, "pbl_1")).toMatchObject([failed]);
    const transfers = await sandbox.api("GET", "/v1/balance/transactions");
    expect(transfers.body["items"]).toMatchObject([failed]);
    expect(await movesOf(sandbox, "pbl_1")).toEqual(["debit", "return"]);
  });

  it("a bank account with a test number doesn't affect payments from the balance", async ({
    sandbox,
  }) => {
    await pay(sandbox, { payableId: "pbl_1" });
    await sandbox.control.advance("P6D");
    expect(await statusesOf(sandbox, "pbl_1")).toEqual(["completed"]);
  });

  it("a bank account shows the last four digits of its number and no more", async ({ sandbox }) => {
    const { text, body } = await sandbox.api("GET", "/v1/bank-accounts/ba_short");
    expect(body["accountNumberLast4"]).toBe("1001");
    expect(text).not.toContain("0009991001");
  });
});
