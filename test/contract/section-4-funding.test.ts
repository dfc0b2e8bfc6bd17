import { describe, expect } from "vitest";
import { onSandbox, reads } from "./sentences.ts";
import { contractWorld, newKey, refusal } from "./world.ts";

const world = contractWorld();

describe("funding sources (API specification, sections 2 and 4)", () => {
  onSandbox("exactly one source is the default one", async () => {
    const sources = await world.client.fundingSources.list();
    expect(sources.filter(({ isDefault }) => isDefault)).toHaveLength(1);
  });

  onSandbox("the balance and each verified bank are listed, with what to send in pay", async () => {
    const sources = await world.client.fundingSources.list();
    const balance = sources.find(({ kind }) => kind === "balance");
    expect(balance).toMatchObject({ id: "balance", rail: "SERVICE", canPay: true });
    expect(balance?.pay).toMatchObject({ paymentRail: "SERVICE", fundingSource: "balance" });
    const bank = sources.find(({ kind }) => kind === "bank");
    expect(bank?.pay).toMatchObject({ paymentRail: "PROVIDER", bankAccountId: bank?.id });
  });

  reads("pay never includes achAuthorizationAccepted", async () => {
    for (const { pay } of await world.client.fundingSources.list()) {
      expect(pay).not.toHaveProperty("achAuthorizationAccepted");
    }
  });

  onSandbox("the linked bank lists with canPay false and bank_funding_unavailable", async () => {
    const sources = await world.client.fundingSources.list();
    const linked = sources.find(({ kind }) => kind === "linked_bank");
    if (linked === undefined) throw new Error("there is no linked bank");
    expect(linked.canPay).toBe(false);
    expect(linked.unavailableReason).toBe("bank_funding_unavailable");
  });

  onSandbox("availableCents is null unless the key can read payments or the balance", async () => {
    const { sandbox } = world;
    const scoped = (scopes: string[]): Promise<string> =>
      sandbox.control.token(undefined, { scopes });
    const available = async (scopes: string[]): Promise<number | null | undefined> => {
      const sources = await world.clientWith(await scoped(scopes)).fundingSources.list();
      return sources.find(({ kind }) => kind === "balance")?.availableCents;
    };
    expect(await available(["bank-accounts:read"])).toBeNull();
    expect(await available(["bank-accounts:read", "balance:read"])).toBe(1_000_000_00);
  });

  onSandbox("a source's pay, with the ACH authorization, pays a bill", async () => {
    const bank = (await world.client.fundingSources.list()).find(({ kind }) => kind === "bank");
    const payableId = await world.bill();
    const { payments } = await world.client.payments.create(
      { payableId, ...bank?.pay, achAuthorizationAccepted: true },
      newKey(),
    );
    expect(payments[0]).toMatchObject({ bankAccountId: bank?.id, paymentRail: "PROVIDER" });
  });
});

describe("the balance and bank accounts (API specification, sections 2 and 4)", () => {
  onSandbox("GET /v1/balance answers what can be spent", async () => {
    const balance = await world.client.balance.get();
    expect(balance).toMatchObject({ status: "open", canSendPayments: true });
    expect(balance.availableCents).toBeLessThanOrEqual(balance.cashCents ?? 0);
  });

  onSandbox("without the feature it answers feature_unavailable", async () => {
    await world.sandbox.control.changeBusiness({ features: { balance: false } });
    const error = await refusal(world.client.balance.get());
    expect(error.code).toBe("feature_unavailable");
    await world.sandbox.control.changeBusiness({ features: { balance: true } });
  });

  onSandbox("GET /v1/bank-accounts is not paginated and shows last four digits only", async () => {
    const [account] = await world.client.bankAccounts.list();
    expect(account).toMatchObject({ status: "verified", isDefault: true });
    expect(account?.accountNumberLast4).toMatch(/^\d{4}$/);
    expect(await world.client.bankAccounts.get(account?.id ?? "")).toEqual(account);
  });
});
