import { describe, expect } from "vitest";
import { sandboxTest } from "../sandbox-test.ts";
import { defaultBank, makeBill, pay, unique } from "../world.ts";
import { type Kind, send } from "./send.ts";

const it = sandboxTest("blank").extend("bankAccountId", ({ sandbox }) => defaultBank(sandbox));

describe("deposits and withdrawals refuse", () => {
  it.for<[string, object, number, string]>([
    ["no amount", { amountCents: undefined }, 400, "amountCents"],
    ["nothing", { amountCents: 0 }, 422, "amountCents"],
    ["half a cent", { amountCents: 0.5 }, 422, "amountCents"],
    ["an amount as text", { amountCents: "5" }, 400, "amountCents"],
    ["no account", { amountCents: 5, bankAccountId: undefined }, 400, "bankAccountId"],
  ])(
    "a deposit or withdrawal with an invalid body is refused: %s",
    async ([_, body, status, field], { sandbox, bankAccountId }) => {
      for (const kind of ["deposits", "withdrawals"] as const) {
        expect(await send(sandbox, bankAccountId, kind, body)).toMatchObject({
          status,
          body: { error: "validation_error", details: { field } },
        });
      }
    },
  );

  it("a transfer without a key, with a long key or with an unknown account is refused", async ({
    sandbox,
    bankAccountId,
  }) => {
    for (const kind of ["deposits", "withdrawals"] as const) {
      const keyless = await send(sandbox, bankAccountId, kind, { amountCents: 5 }, null);
      expect(keyless).toMatchObject({ status: 400, body: { error: "validation_error" } });
      expect(
        (await send(sandbox, bankAccountId, kind, { amountCents: 5 }, "k".repeat(65))).status,
      ).toBe(400);
      expect(
        await send(sandbox, bankAccountId, kind, { amountCents: 5, bankAccountId: "ba_none" }),
      ).toMatchObject({
        status: 404,
        body: { error: "not_found" },
      });
    }
  });

  it("a transfer with an unverified bank account is refused", async ({ sandbox }) => {
    await sandbox.control.reset({
      businesses: [
        { name: "B", balanceCents: 500, bankAccounts: [{ id: "ba_1", status: "unverified" }] },
      ],
    });
    const bankAccountId = "ba_1";
    for (const kind of ["deposits", "withdrawals"] as const) {
      expect(await send(sandbox, bankAccountId, kind, { amountCents: 5 })).toMatchObject({
        status: 422,
        body: { error: "validation_error", details: { field: "bankAccountId" } },
      });
    }
  });

  it("a transfer refused for the business's state is accepted later under the same key", async ({
    sandbox,
    bankAccountId,
  }) => {
    const states: [object, object, number, string, readonly Kind[]][] = [
      [{ setup: "incomplete" }, { setup: "complete" }, 409, "setup_incomplete", ["deposits"]],
      [
        { verification: "suspended" },
        { verification: "verified" },
        409,
        "setup_incomplete",
        ["withdrawals"],
      ],
      [
        { features: { balance: false } },
        { features: { balance: true } },
        403,
        "feature_unavailable",
        ["deposits", "withdrawals"],
      ],
      [
        { paymentsLocked: true },
        { paymentsLocked: false },
        409,
        "payments_locked",
        ["withdrawals"],
      ],
    ];
    for (const [bad, good, status, error, kinds] of states) {
      for (const kind of kinds) {
        const key = unique("k");
        await sandbox.control.changeBusiness({ ...bad });
        expect(await send(sandbox, bankAccountId, kind, { amountCents: 5 }, key)).toMatchObject({
          status,
          body: { error },
        });
        await sandbox.control.changeBusiness({ ...good });
        expect((await send(sandbox, bankAccountId, kind, { amountCents: 5 }, key)).status).toBe(
          201,
        );
      }
    }
  });

  it("without a balance, transfers and payments are refused with the address to set one up", async ({
    sandbox,
  }) => {
    await sandbox.control.reset({
      businesses: [{ name: "B", balanceCents: null, bankAccounts: [{ id: "ba_1" }] }],
    });
    const bankAccountId = "ba_1";
    const refused = {
      status: 409,
      body: {
        error: "setup_required",
        details: { actionUrl: expect.stringContaining("https://") },
      },
    };
    expect(await send(sandbox, bankAccountId, "deposits", { amountCents: 5 })).toMatchObject(
      refused,
    );
    expect(await send(sandbox, bankAccountId, "withdrawals", { amountCents: 5 })).toMatchObject(
      refused,
    );
    expect(await sandbox.api("GET", "/v1/balance/transactions")).toMatchObject(refused);
    expect(await pay(sandbox, { payableId: await makeBill(sandbox) })).toMatchObject(refused);
  });
});
