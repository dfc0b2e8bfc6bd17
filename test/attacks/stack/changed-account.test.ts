import { expect, test } from "vitest";
import { DAY_MS } from "../../../src/contracts/durations.ts";
import type { RunReview } from "../../../src/api/review.ts";
import {
  applyIncidents,
  bouncedScene,
  decideIncident,
  incidents,
  settledAgain,
} from "../../support/bounced.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../../support/stack.ts";
import { paidOnce, type TestPayrun } from "../../support/payrun.ts";
import { paymentsOf } from "../../support/scene.ts";
import { makeSigner, signDecision } from "../../support/signing.ts";

const start = stacks();

const TWO_PEOPLE = `
kind: pay-run
select: { due: all }
approve:
  - { by: [controller, owner], quorum: 2 }
`;

/** An account of the same bank whose number ends in the same digits. */
async function swapAccount(payrun: TestPayrun, contactId: string): Promise<void> {
  const { url, business } = payrun.sandbox;
  const headers = { authorization: `Bearer ${business.token}` };
  const before = await fetch(`${url}/v1/contacts/${contactId}`, { headers });
  const { bankAccount } = (await before.json()) as { bankAccount: { last4: string } };
  await payrun.sandbox.control.changeContact(contactId, {
    bankAccount: { accountNumber: `98765${bankAccount.last4}`, routingNumber: "021000021" },
  });
}

async function asked(payrun: TestPayrun, runId: string): Promise<RunReview["changedRecords"]> {
  const path = `/v1/runs/${encodeURIComponent(runId)}/review`;
  const { body } = await payrun.call<RunReview>("controller", "GET", path);
  return body.changedRecords;
}

const waitsForWord =
  (count: number) =>
  ({ payments }: { payments: readonly { reasonCode: string | null }[] }): boolean =>
    payments.filter(({ reasonCode }) => reasonCode === "changed_record").length === count;

test("accounts that keep their last digits and change after two approvals get nothing before one word, which covers all of them", async () => {
  const payrun = await start();
  const { runId, made } = await plannedRun(payrun, [100_00, 200_00], TWO_PEOPLE);
  const vendors = [...new Set(made.map(({ contactId }) => contactId))];
  await payrun.decide("controller", runId, "approve");
  for (const contactId of vendors) await swapAccount(payrun, contactId);
  await payrun.decide("owner", runId, "approve");
  // The lane notices it; the run's phase follows with its next look.
  const isAsked = waitsForWord(made.length);
  const waiting = await payrun.until(
    runId,
    "asked",
    (run) => isAsked(run) && run.phase === "awaiting-approval",
  );
  expect(waiting.payments[0]?.approvedBy).toEqual(["controller", "owner"]);
  expect(waiting.payments[0]?.reason).toContain(
    "none of the fields that the service shows differs",
  );

  const records = (await asked(payrun, runId)).map(({ contactId, updatedAt }) => ({
    contactId,
    updatedAt,
  }));
  const confirmedRecords = { confirmedRecords: records };
  expect(new Set(records.map(({ contactId }) => contactId))).toEqual(new Set(vendors));
  const launcher = await payrun.decide("launcher", runId, "approve", confirmedRecords);
  expect(launcher.status).toBe(403);
  const older = records.map(({ contactId }) => ({ contactId, updatedAt: "2026-01-01T00:00:00Z" }));
  const stale = await payrun.decide("owner", runId, "approve", { confirmedRecords: older });
  expect(stale).toMatchObject({ status: 409, body: { error: "stale_record" } });
  expect(await payrun.decide("owner", runId, "approve", confirmedRecords)).toMatchObject({
    status: 200,
  });
  await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === made.length);

  // Once scheduled, nothing holds the money back: people hear of it, once, in time to cancel.
  for (const contactId of vendors) await swapAccount(payrun, contactId);
  await payrun.until(runId, "noticed", waitsForWord(made.length));
  await expect
    .poll(async () => noticeTexts(payrun), { timeout: 60_000 })
    .toContainEqual(expect.stringContaining("can be cancelled until"));
  const ofScheduled = (await noticeTexts(payrun)).filter(
    (text) => text.includes("is scheduled") || text.includes("are scheduled"),
  );
  expect(ofScheduled).toHaveLength(1);
  await untilEnded(payrun, runId);
  expect((await paidOnce(payrun, each(made))).actual).toEqual(each(made));
});

test("a retry to a record that was changed meanwhile waits for the word too, and a signed one is enough", async () => {
  const erp = makeSigner();
  const payrun = await start({ signers: erp.setting });
  await applyIncidents(payrun);
  const { runId, made } = await bouncedScene(payrun, "bounced", [110_00, 120_00]);
  for (const { contactId } of made) await swapAccount(payrun, contactId);
  const [incident] = await incidents(payrun);
  expect((await decideIncident(payrun, incident?.source ?? "", "released")).status).toBe(200);
  await expect.poll(async () => (await asked(payrun, runId)).length, { timeout: 60_000 }).toBe(2);
  for (const bill of made) expect(await paymentsOf(payrun, bill)).toHaveLength(1);

  const records = await asked(payrun, runId);
  const confirmedRecords = records.map(({ contactId, updatedAt }) => ({ contactId, updatedAt }));
  const { planHash } = await payrun.status(runId);
  const signed = signDecision(erp, { sub: runId, planHash, confirmedRecords });
  const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
  expect(await payrun.call("launcher", "POST", path, { signed })).toMatchObject({ status: 200 });
  const done = await settledAgain(payrun, { runId, made });
  expect(done.counts.settled).toBe(2);
  expect((await paidOnce(payrun, each(made))).actual).toEqual(each(made));
});

async function noticeTexts(payrun: TestPayrun): Promise<string[]> {
  const { body } = await payrun.call<{ items: { text: string }[] }>(
    "operator",
    "GET",
    "/v1/notices?kind=changed-record",
  );
  return body.items.map(({ text }) => text);
}

const FLAGGED = `
kind: pay-run
select: { due: all }
review: [changed-bank-account]
approve:
  - { by: [controller] }
`;

test("neither a test payment of a dollar nor an account with the same last digits passes as the account that was paid before", async () => {
  const payrun = await start();
  const { control } = payrun.sandbox;
  const { runId, made } = await plannedRun(payrun, [100_00]);
  const contactId = made[0]?.contactId ?? "";
  await approve(payrun, runId);
  await untilEnded(payrun, runId);
  const bankMs = async () => Date.parse((await control.clock()).bank);
  // The clock keeps running until then: after a step, a worker may not have noticed it yet.
  const provenMs = (await bankMs()) + 5 * DAY_MS;
  await expect.poll(bankMs, { timeout: 60_000 }).toBeGreaterThan(provenMs);
  await control.setScale(1);
  const flagsOfNext = async (playbook: string, totalAmountCents: number) => {
    await control.createPayable({ contactId, totalAmountCents, dueDate: "2027-12-31" });
    await payrun.apply(playbook, FLAGGED);
    const next = await payrun.launch(playbook);
    const { payments } = await payrun.untilPhase(next, "awaiting-approval");
    return { next, flags: payments.flatMap(({ flags }) => flags.map(({ kind }) => kind)) };
  };
  await swapAccount(payrun, contactId);
  const sameDigits = await flagsOfNext("same-digits", 50_00);
  expect(sameDigits.flags).toEqual(["changed-record"]);

  await control.changeContact(contactId, { bankAccount: { accountNumber: "555000111222" } });
  const dollar = await flagsOfNext("dollar", 1_00);
  expect(dollar.flags).toEqual(["changed-bank-account"]);
  await approve(payrun, dollar.next);
  await payrun.until(dollar.next, "scheduled", ({ counts }) => counts.scheduled === 1);
  expect((await flagsOfNext("real", 9_000_00)).flags).toContain("changed-bank-account");
});
