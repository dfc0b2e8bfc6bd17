import { expect, test } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import { keepHistory } from "../support/keep-history.ts";
import {
  ADA,
  BEN,
  DATA,
  giveInTurn,
  kybWrites,
  ONBOARDING_ID,
  onboard,
  PLANTED,
  provide,
  reviewed,
  untilOnboarding,
  untilWaitsIn,
} from "../support/onboarding.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { stacks } from "../support/stack.ts";
import { isLong } from "../support/long.ts";

const start = stacks();

test.runIf(isLong)(
  "a wait causes reminders, then expires and deletes data; launched again it continues",
  async () => {
    const payrun = await start({ fixture: "unverified" });
    const { control } = payrun.sandbox;
    await onboard(payrun, ["remind: { every: 2 days, tell: [owner] }", "expire: 10 days"]);
    await giveInTurn(payrun, "tax");
    await untilWaitsIn(payrun, "signature");
    // Provided before its turn and therefore stored: the end must delete it.
    expect((await provide(payrun, "officers", DATA.officers)).status).toBe(202);
    await control.advance("P5D");
    const reminded = await untilOnboarding(payrun, "reminded", ({ reminders }) => reminders > 0);
    expect(reminded).toMatchObject({ phase: "signature", reminders: 2, needsAction: true });
    expect(await factsOf(payrun, "reminder")).toEqual([
      expect.stringMatching(new RegExp(`^${ONBOARDING_ID}/r1/signature:0/\\d+/2$`)),
    ]);
    await control.advance("P6D");
    const expired = await untilOnboarding(payrun, "expired", ({ ended }) => ended);
    expect(expired.phase).toBe("expired");
    expect(await payrun.store.db.selectFrom("vault").selectAll().execute()).toEqual([]);
    await keepHistory(payrun, ONBOARDING_ID, "kyb-onboarding-expired");

    const late = await provide(payrun, "signature", DATA.signature);
    expect(late).toMatchObject({ status: 409, body: { error: "onboarding_ended" } });
    expect(await payrun.launch("kyb")).toBe(ONBOARDING_ID);
    const again = await untilWaitsIn(payrun, "signature");
    expect(again.provided).toEqual([]);
    expect(await kybWrites(payrun)).toEqual(["PATCH /tax"]);
  },
);

async function factsOf(payrun: TestPayrun, kind: string): Promise<string[]> {
  const { db } = payrun.store;
  const rows = await db.selectFrom("notices").select("fact_key").where("kind", "=", kind).execute();
  return rows.map((row) => row.fact_key);
}

test("a wrong tax id, a similar officer and a suspension are each put to a person", async () => {
  const payrun = await start({ fixture: "unverified" });
  const { control } = payrun.sandbox;
  const { businessId } = payrun.sandbox.business;
  // Another person has begun already: a tax id is there.
  await payrun.sandbox.api("PATCH", `/api/businesses/${businessId}/tax`, {
    body: { ein: "12-3456789" },
  });
  await onboard(payrun);
  await untilWaitsIn(payrun, "signature");
  await provide(payrun, "tax", DATA.tax);
  const kept = await untilRefused(payrun, "tax");
  expect(kept.at(-1)?.reason).toContain("another tax id on file");
  await provide(payrun, "tax", { ...DATA.tax, replace: true });
  await untilOnboarding(payrun, "sent", ({ provided }) => provided.at(-1)?.state === "done");
  await control.changeBusiness({ tinCheck: "mismatched" });
  const mismatched = await untilWaitsIn(payrun, "tax");
  expect(mismatched.waitingFor).toContain("IRS could not match");
  await provide(payrun, "tax", { ein: "12-3456789" });
  await giveInTurn(payrun, "signature");
  await giveInTurn(payrun, "officers", ADA);
  await untilWaitsIn(payrun, "certification");
  const alike = { ...BEN, firstName: ADA.firstName, lastName: ADA.lastName };
  await provide(payrun, "officers", alike);
  const asked = await untilRefused(payrun, "officers");
  expect(asked.at(-1)?.reason).toContain("another: true");
  await provide(payrun, "officers", { ...alike, another: true });
  await expect.poll(async () => (await reviewed(payrun)).officers.length).toBe(2);
  await control.changeBusiness({ verification: "suspended", nextSteps: ["Call 555-0100."] });
  const suspended = await untilWaitsIn(payrun, "suspended");
  expect(suspended.waitingFor).toContain(
    "The business is suspended. The service says: “Call 555-0100.",
  );
  expect(suspended).toMatchObject({ ended: false, needsAction: true });
  await control.changeBusiness({ verification: "pending" });
  await giveInTurn(payrun, "certification");
  await untilWaitsIn(payrun, "review");
  await keepHistory(payrun, ONBOARDING_ID, "kyb-onboarding-suspended", { stillRuns: true });
});

async function untilRefused(payrun: TestPayrun, step: string) {
  const refused = await untilOnboarding(
    payrun,
    "refused",
    ({ provided }) => provided.at(-1)?.state === "refused",
  );
  expect(refused.provided.at(-1)?.step).toBe(step);
  return refused.provided;
}

test.runIf(isLong)(
  "a verified business gets its bank account verified, with a last attempt only if a person asks",
  async () => {
    const payrun = await start({ fixture: "unverified" });
    const { control } = payrun.sandbox;
    await control.changeBusiness({ verification: "verified" });
    await onboard(payrun, ["bankAccount: micro-deposits"]);
    const account = {
      accountNumber: PLANTED.accountNumber,
      routingNumber: "021000021",
      accountType: "checking",
    };
    await untilOnboarding(payrun, "asked", ({ waitingFor }) =>
      /bank-account/.test(waitingFor ?? ""),
    );
    expect((await provide(payrun, "bank-account", account)).status).toBe(202);
    await untilOnboarding(payrun, "linked", ({ waitingFor }) =>
      /on their way/.test(waitingFor ?? ""),
    );
    await control.advance("P5D");
    const amounts = await amountsOf(payrun);
    const wrong = amounts.map((cents) => (cents === 99 ? 1 : cents + 1));
    for (const _ of [1, 2]) {
      await untilAsksAmounts(payrun);
      await provide(payrun, "micro-deposits", { amountsCents: wrong });
      await untilRefused(payrun, "micro-deposits");
    }
    const last = await untilAsksAmounts(payrun);
    expect(last.waitingFor).toContain("a third wrong one closes the account");
    await provide(payrun, "micro-deposits", { amountsCents: amounts });
    const unsent = await untilRefused(payrun, "micro-deposits");
    expect(unsent.at(-1)?.reason).toContain("lastAttempt: true");
    await provide(payrun, "micro-deposits", { amountsCents: amounts, lastAttempt: true });
    const done = await untilOnboarding(payrun, "ended", ({ ended }) => ended);
    expect(done.phase).toBe("verified");
    const { body } = await payrun.sandbox.api<{ items: { status: string }[] }>(
      "GET",
      "/v1/bank-accounts",
    );
    expect(body.items.map(({ status }) => status)).toEqual(["verified"]);
    await keepHistory(payrun, ONBOARDING_ID, "kyb-onboarding-bank-account");
    const { businessId } = payrun.sandbox.business;
    const trail = await listAudit(payrun.store.db, { businessId, subject: ONBOARDING_ID });
    expect(trail.filter(({ action }) => action === "onboarding.sending")).toHaveLength(4);
    expect(JSON.stringify(trail)).not.toContain(PLANTED.accountNumber);
  },
);

async function amountsOf(payrun: TestPayrun): Promise<number[]> {
  const { body } = await payrun.sandbox.api<{ items: { id: string }[] }>(
    "GET",
    "/v1/bank-accounts",
  );
  const url = `${payrun.sandbox.url}/sandbox/micro-deposits/${body.items[0]?.id}`;
  return ((await (await fetch(url)).json()) as { amountsCents: number[] }).amountsCents;
}

function untilAsksAmounts(payrun: TestPayrun) {
  return untilOnboarding(payrun, "asking for the amounts", ({ waitingFor }) =>
    /amounts of the two small deposits/.test(waitingFor ?? ""),
  );
}
