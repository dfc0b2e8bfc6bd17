import { expect, test } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import { keepHistory } from "../support/keep-history.ts";
import {
  DATA,
  giveInTurn,
  kybWrites,
  ONBOARDING_ID,
  onboard,
  onboardingOf,
  PLANTED,
  reviewed,
  untilOnboarding,
  untilWaitsIn,
} from "../support/onboarding.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { stacks } from "../support/stack.ts";
import { whereFound } from "../support/where-found.ts";

const start = stacks();

test("a business is taken from nothing to verified, and no personal data is left anywhere", async () => {
  const payrun = await start({ fixture: "unverified" });
  const { control } = payrun.sandbox;
  await onboard(payrun);
  await giveInTurn(payrun, "tax");
  await giveInTurn(payrun, "signature");
  await giveInTurn(payrun, "officers");
  await giveInTurn(payrun, "certification");
  await untilWaitsIn(payrun, "review");
  await untilKept(payrun, 0);
  for (const round of ["first", "second"]) {
    await control.changeBusiness({
      verification: "document",
      nextSteps: [`The ${round} letter, please: about 987654321.`],
    });
    const asked = await untilWaitsIn(payrun, "documents");
    expect(asked.waitingFor).toContain(`The ${round} letter, please: about •••.`);
    await giveInTurn(payrun, "documents");
    await untilWaitsIn(payrun, "review");
  }
  await control.changeBusiness({ verification: "verified" });
  const done = await untilOnboarding(payrun, "ended", ({ ended }) => ended);

  expect(done.phase).toBe("verified");
  expect(done.proposal?.text).toContain("kind: pay-run");
  await keepHistory(payrun, ONBOARDING_ID, "kyb-onboarding-verified");
  const seen = await reviewed(payrun);
  expect(seen.officers.map(({ lastName }) => lastName)).toEqual(["Okafor", "Oduya"]);
  expect(seen.documents).toHaveLength(2);
  expect(await kybWrites(payrun)).toEqual([
    "PATCH /tax",
    "PATCH /tax/signature",
    "POST /officers",
    "POST /officers",
    "POST /officers/certify-beneficial-ownership",
    "POST /tax/upload-verification-documents",
    "POST /tax/upload-verification-documents",
  ]);
  await expectLegalActs(payrun);
  await untilKept(payrun, 0);
  await expectNothingPersonal(payrun);
  expect(await control.ledger()).toEqual([]);
});

async function untilKept(payrun: TestPayrun, values: number): Promise<void> {
  const rows = await payrun.store.db.selectFrom("vault").select("vault_ref").execute();
  expect(rows).toHaveLength(values);
}

async function expectLegalActs(payrun: TestPayrun): Promise<void> {
  const { businessId } = payrun.sandbox.business;
  const trail = await listAudit(payrun.store.db, { businessId, subject: ONBOARDING_ID });
  const signed = trail.find(({ action }) => action === "onboarding.signed");
  expect(signed).toMatchObject({
    actor: "owner",
    details: { name: "Ada Okafor", at: DATA.signature.signedAt, from: "127.0.0.1" },
  });
  expect(signed?.details["text"]).toContain("Under penalties of perjury");
  const certified = trail.find(({ action }) => action === "onboarding.certified");
  expect(certified?.details["text"]).toContain("25 percent or more");
}

/** Searches all histories, logs and files for every planted value, in every notation. */
async function expectNothingPersonal(payrun: TestPayrun): Promise<void> {
  const status = JSON.stringify(await onboardingOf(payrun));
  const { found, places } = await whereFound(payrun, PLANTED, { status });
  expect(places).toEqual(
    expect.arrayContaining(["payrun.db", "worker.log", "gateway.log", `${ONBOARDING_ID} decoded`]),
  );
  expect(found).toEqual([]);
}
