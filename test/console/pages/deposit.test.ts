import { html } from "hono/html";
import { expect, test } from "vitest";
import { depositNeeds, shortOfMoney } from "../../../src/console/pages/deposit.ts";

type Review = Parameters<typeof shortOfMoney>[0];

const open = { hash: "h1", state: "proposed", amountCents: 22_181_869 };
const run = { id: "pay-run/acme/few/2026-12-17", planHash: "p1", accounts: [] };

test("approving more than the balance covers shows the missing sum and a link to the deposit", async () => {
  const short = (
    await html`${shortOfMoney({ ...run, topUps: [open] } as unknown as Review)}`
  ).toString();
  expect(short).toContain("short by $221,818.69");
  expect(short).toContain("/deposit?topUp=h1&amp;plan=p1");
  const made = { ...run, topUps: [{ ...open, state: "completed" }] } as unknown as Review;
  expect((await html`${shortOfMoney(made)}`).toString()).toBe("");
});

test("approving more than an account has shows the missing sum if no deposit is proposed", async () => {
  const balance = { name: "Balance", last4: null, sourceId: "balance", afterCents: -45_437_81 };
  const said = await html`${shortOfMoney({ ...run, accounts: [balance] } as unknown as Review)}`;
  expect(said.toString()).toContain("Balance doesn’t cover all of it");
  expect(said.toString()).toContain("short by $45,437.81");
});

test("a balance that covers all bills by now is not shown as short, even if a deposit is proposed", async () => {
  const balance = { name: "Balance", last4: null, sourceId: "balance" };
  const has = (cents: number) => ({ ...balance, availableCents: 90_000_00, afterCents: cents });
  const note = async (cents: number) =>
    String(
      await html`${shortOfMoney({ ...run, topUps: [open], accounts: [has(cents)] } as unknown as Review)}`,
    );
  expect(await note(0)).toContain("The balance covers all of it now");
  expect(await note(-1)).toContain("The balance doesn’t cover all of it");
});

test("a deposit names whom it waits for", () => {
  const owner = { approvers: ["owner"], approvedBy: [] };
  expect(depositNeeds({ ...owner, quorum: 1 })).toBe("the owner");
  expect(depositNeeds({ ...owner, quorum: 2, approvedBy: ["olga"] })).toBe(
    "a second person (owner)",
  );
});
