import { expect } from "vitest";
import { DAY_MS } from "../../../src/contracts/durations.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { changeLine, planLineOf } from "../../../src/store/lines/lines.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { choosePayments } from "../../../activities/cancel/choose-payments.ts";
import { recordOutcome } from "../../../activities/pay/record.ts";
import { reviewRun } from "../../../activities/runs/review-run.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { CancelWorld } from "../cancel-world.ts";
import { confirmRecords } from "../confirm-records.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const ASKS_AGAIN = { state: "awaiting-approval" } as const;

const OVER_50 = { changedRecord: { cancelOverCents: 5_000 } };

const changePhone = (world: MoneyWorld, contactId = "v1", phone = "+1 646 555 0199") =>
  world.control.changeContact(contactId, { phone });

test("an approved bill whose vendor's record was changed waits for one word, and its approvals stand", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(runId);
  const asked = await world.line(runId, payableId);
  expect(asked).toMatchObject({ state: "awaiting-approval", reasonCode: "changed_record" });
  expect(asked.reason).toContain("phone differs");
  expect(asked.reason).toContain(`payrun approve ${runId} --same-account v1`);
  const waiting = await reviewRun(world.context(), runId);
  expect(waiting).toMatchObject({ phase: "awaiting-approval", needsAction: true, toPay: 0 });
  expect(waiting.waitingFor).toContain(
    "owner, who says whether the vendor's account is still right",
  );

  expect(await confirmRecords(world, runId)).toMatchObject({
    accepted: true,
    countsFor: [payableId],
  });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "scheduled",
    reasonCode: null,
  });
  expect(await world.paymentsOf(payableId)).toHaveLength(1);
});

test("a notice that asks for an approval counts bills that wait only for a word apart, with the command", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
  await changePhone(world);
  await world.pay(runId);
  const other = payableIds[1] ?? "";
  await changeLine(world.store.db, { runId, payableId: other }, ASKS_AGAIN, Date.now());
  await world.store.db.deleteFrom("line_approvals").where("payable_id", "=", other).execute();
  await world.store.db.deleteFrom("notices").execute();
  await reviewRun(world.context(), runId);
  const [notice] = await listNotices(world.store.db, { kind: "approval-needed", limit: 1 });
  expect(notice?.subject).toContain("1 bill of $100.00 waits for approval");
  expect(notice?.text).toContain("1 bill of $100.00 waits only for one word");
  expect(notice?.text).toContain(`payrun approve ${runId} --same-account VENDOR, or all`);
  expect(notice?.text.match(/An approval by/g)).toHaveLength(1);
});

test("a word about an older record doesn't count once the record is changed again", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(runId);
  await confirmRecords(world, runId);
  await changePhone(world, "v1", "+1 646 555 0100");
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ reasonCode: "changed_record" });
  expect(await world.paymentsOf(payableId)).toEqual([]);
});

test("the account is confirmed by an approver of the line who didn't launch the run, and by nobody else", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(runId);
  const launcher = (await getRun(world.store.db, runId))?.launchedBy ?? "";
  expect(await confirmRecords(world, runId, { name: launcher })).toMatchObject({
    code: "launcher",
  });
  expect(await confirmRecords(world, runId, { roles: ["operator"] })).toMatchObject({
    code: "role_missing",
  });
  const records = [{ contactId: "v1", updatedAt: "2020-01-01T00:00:00Z" }];
  expect(await confirmRecords(world, runId, { records })).toMatchObject({ code: "stale_record" });
  const others = [{ contactId: "v2", updatedAt: "2020-01-01T00:00:00Z" }];
  expect(await confirmRecords(world, runId, { records: others })).toMatchObject({
    code: "nothing_left",
  });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ reasonCode: "changed_record" });
});

test("a role to which a bill may be escalated says that the account is right only once it was", async ({
  world,
}) => {
  const rule = { review: false, overCents: null, where: null, by: ["owner"], quorum: 1 };
  const after = { count: 5, unit: "business days" } as const;
  const stages = [{ by: ["owner"], quorum: 1, escalate: { after, to: ["clerk"] } }];
  const { runId, payableId } = await world.approvedRun([{}], { approve: [{ ...rule, stages }] });
  await changePhone(world);
  await world.pay(runId);
  expect((await world.line(runId, payableId)).reason).toContain("One person of owner who");
  const clara = { name: "clara", roles: ["clerk"] };
  expect(await confirmRecords(world, runId, clara)).toMatchObject({ code: "role_missing" });
  await world.store.db.updateTable("run_lines").set({ escalated: 1 }).execute();
  expect(await confirmRecords(world, runId, clara)).toMatchObject({ countsFor: [payableId] });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
});

/** Everything that a test says is hurried. */
const HURRY = { underMs: DAY_MS, outside: null, needsAnother: true };

test("a hurried word about an account needs a second person where the playbook asks for one, and saying it again is none", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}], { hurry: HURRY });
  await changePhone(world);
  await world.pay(runId);
  const first = await confirmRecords(world, runId);
  expect(first).toMatchObject({ accepted: true, countsFor: [] });
  expect(first).toHaveProperty("summary", expect.stringContaining("1 bill waits for another"));
  const { db } = world.store;
  const [notice] = await listNotices(db, { runId, kind: "hurried-approval", limit: 9 });
  expect(notice?.subject).toMatch(/olga confirmed accounts \d+ seconds? after the plan$/);
  expect(notice?.text).toContain("its bills need one more person");
  expect(await confirmRecords(world, runId, { name: "Olga" })).toMatchObject({ countsFor: [] });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ reasonCode: "changed_record" });
  expect(await confirmRecords(world, runId, { name: "omar" })).toMatchObject({
    countsFor: [payableId],
  });
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
});

test("a hurried word about an account counts, and is notified, where the playbook only says notify; a signed one is never hurried", async ({
  world,
}) => {
  const notified = await world.approvedRun([{}], { hurry: { ...HURRY, needsAnother: false } });
  await changePhone(world);
  await world.pay(notified.runId);
  expect(await confirmRecords(world, notified.runId)).toMatchObject({
    countsFor: [notified.payableId],
  });
  const noticesOf = (runId: string) =>
    listNotices(world.store.db, { runId, kind: "hurried-approval", limit: 9 });
  expect(await noticesOf(notified.runId)).toHaveLength(1);
  const signed = await world.approvedRun([{}], { hurry: HURRY });
  await changePhone(world, "v1", "+1 646 555 0100");
  await world.pay(signed.runId);
  const proof = { via: "signature", keyId: "key_1" };
  expect(await confirmRecords(world, signed.runId, { proof })).toMatchObject({
    countsFor: [signed.payableId],
  });
  expect(await noticesOf(signed.runId)).toEqual([]);
  await world.pay(signed.runId);
  expect(await world.line(signed.runId, signed.payableId)).toMatchObject({ state: "scheduled" });
});

test("the playbook of each run says whether a word about an account was hurried, in whatever run it was said", async ({
  world,
}) => {
  const calm = await world.approvedRun([{}]);
  const strict = await world.approvedRun([{}], { hurry: HURRY });
  await changePhone(world);
  await world.pay(calm.runId);
  expect(await confirmRecords(world, calm.runId)).toMatchObject({ countsFor: [calm.payableId] });
  await world.pay(strict.runId);
  expect(await world.line(strict.runId, strict.payableId)).toMatchObject({
    reasonCode: "changed_record",
  });
  expect(await confirmRecords(world, strict.runId, { name: "omar" })).toMatchObject({
    countsFor: [strict.payableId],
  });
  await world.pay(strict.runId);
  expect(await world.line(strict.runId, strict.payableId)).toMatchObject({ state: "scheduled" });
});

test("a word about a bill on hold leaves its hold, and the bill is paid once it is released", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(runId);
  const holdId = await holdBill(world, payableId);
  await reviewRun(world.context(), runId);
  expect(await confirmRecords(world, runId)).toMatchObject({ countsFor: [payableId] });
  expect(await world.line(runId, payableId)).toMatchObject({
    ...{ state: "on-hold", reasonCode: "on_hold" },
  });
  await world.store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
  await world.pay(runId);
  expect(await world.line(runId, payableId)).toMatchObject({ state: "scheduled" });
});

test("a bill whose hold is released asks about its vendor's record again, with what differs", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(runId);
  const holdId = await holdBill(world, payableId);
  await reviewRun(world.context(), runId);
  await world.store.transaction((trx) => releaseHold(trx, holdId, "olga", Date.now()));
  await world.pay(runId);
  const asked = await world.line(runId, payableId);
  expect(asked).toMatchObject({ state: "awaiting-approval", reasonCode: "changed_record" });
  expect(asked.reason).toContain("phone differs");
});

test("a word that comes while a lane judges the bill counts: nobody is asked again", async ({
  world,
}) => {
  const first = await world.approvedRun([{}]);
  const second = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(first.runId);
  const asked = await world.line(first.runId, first.payableId);
  await confirmRecords(world, first.runId);
  const approved = await world.line(second.runId, second.payableId);
  await changeLine(world.store.db, approved, { state: "paying" }, Date.now());
  const late = await world.line(second.runId, second.payableId);
  const job = { line: late, plan: await planLineOf(world.store.db, late) };
  const outcome = {
    kind: "record-changed",
    record: asked.recordAsked ?? "",
    reason: asked.reason ?? "",
  } as const;
  await recordOutcome(world.context(), await world.ownerOf(second.runId), job, outcome);
  expect(await world.line(second.runId, second.payableId)).toMatchObject({
    ...{ state: "planned", recordAsked: null },
  });
});

test("one answer for a vendor's record counts in each run that pays the vendor", async ({
  world,
}) => {
  const first = await world.approvedRun([{}]);
  const second = await world.approvedRun([{}]);
  await changePhone(world);
  await world.pay(first.runId);
  await world.pay(second.runId);
  expect(await confirmRecords(world, first.runId)).toMatchObject({
    countsFor: [first.payableId, second.payableId],
  });
  await world.pay(second.runId);
  expect(await world.line(second.runId, second.payableId)).toMatchObject({ state: "scheduled" });
});

test("one notice covers the vendors that a sync changed, with the cut-off of what is scheduled", async ({
  world,
}) => {
  const scheduled = await world.approvedRun([{}]);
  await world.pay(scheduled.runId);
  const waiting = await world.approvedRun([{}, { contactId: "v2" }]);
  await changePhone(world);
  await changePhone(world, "v2");
  await world.pay(waiting.runId);
  await lookAgain(world, scheduled);
  expect(await world.line(scheduled.runId, scheduled.payableId)).toMatchObject({
    state: "scheduled",
    reasonCode: "changed_record",
  });
  expect(await noticesOf(world)).toEqual([]);
  await afterQuiet(world);
  await reviewRun(world.context(), waiting.runId);
  await reviewRun(world.context(), scheduled.runId);
  const [notice, ...others] = await noticesOf(world);
  expect(others).toEqual([]);
  expect(notice?.roles).toEqual(["operator", "owner"]);
  expect(notice?.text).toContain("2 bills, $200.00 wait for one word");
  expect(notice?.text).toContain(
    "1 bill, $100.00 is scheduled already. The first can be cancelled until",
  );
  expect(notice?.text).toContain(`payrun approve ${waiting.runId} --same-account all`);
  expect((await world.paymentsOf(scheduled.payableId)).map(({ status }) => status)).toEqual([
    "scheduled",
  ]);
});

test("the notice about changed records says which scheduled payments can't be recalled", async ({
  world,
}) => {
  await world.world.reset({ balanceCents: 50_000_000 });
  // The service splits a bill above $100,000, and cancels none of several scheduled payments.
  const { runId, payableIds } = await world.approvedRun([{ totalAmountCents: 15_000_000 }, {}]);
  await world.pay(runId);
  await changePhone(world);
  for (const payableId of payableIds) await lookAgain(world, { runId, payableId });
  await afterQuiet(world);
  await reviewRun(world.context(), runId);
  const [notice] = await noticesOf(world);
  expect(notice?.text).toContain("2 bills, $150,100.00 are scheduled already. The first can be");
  expect(notice?.text).toContain("1 bill, $150,000.00 of it can't be recalled any more.");
});

test("a scheduled payment above the playbook's amount is cancelled if its vendor's record is changed", async ({
  world,
}) => {
  const changedRecord = { cancelOverCents: 15_000 };
  const bills = [{ totalAmountCents: 10_000 }, { totalAmountCents: 20_000 }];
  const { runId, payableIds } = await world.approvedRun(bills, { changedRecord });
  await world.pay(runId);
  await changePhone(world);
  for (const payableId of payableIds) await lookAgain(world, { runId, payableId });
  const lines = await Promise.all(payableIds.map((id) => world.line(runId, id)));
  expect(lines.map(({ reasonCode }) => reasonCode)).toEqual([
    "changed_record",
    "record_changed_after_approval",
  ]);
  expect((await world.holds()).map(({ value }) => value)).toEqual([payableIds[1]]);
  const rows = await world.store.db.selectFrom("cancellations").select("policy").execute();
  expect(rows).toHaveLength(1);
  expect(rows[0]?.policy).toContain(lines[1]?.paymentIds[0]);
});

test("the cancel of a payment whose vendor's record was changed sets no second hold on its bill", async ({
  world,
}) => {
  const { runId, payableId } = await world.approvedRun([{}], OVER_50);
  await world.pay(runId);
  await changePhone(world);
  await lookAgain(world, { runId, payableId });
  await cancelAlarmed(world);
  expect(await world.holds()).toMatchObject([{ scope: "payable", value: payableId }]);
  expect((await world.paymentsOf(payableId)).map(({ status }) => status)).toEqual(["cancelled"]);
});

test("the notice about changed records also names the payments that were cancelled, and the commands that release their bills", async ({
  world,
}) => {
  const cancelled = await world.approvedRun([{ totalAmountCents: 20_000 }], OVER_50);
  await world.pay(cancelled.runId);
  const waiting = await world.approvedRun([{ contactId: "v2" }]);
  await changePhone(world);
  await changePhone(world, "v2");
  await world.pay(waiting.runId);
  await lookAgain(world, cancelled);
  await cancelAlarmed(world);
  await world.follow(cancelled.runId);
  expect(await world.line(cancelled.runId, cancelled.payableId)).toMatchObject({
    state: "cancelled",
  });
  await reviewRun(world.context(), cancelled.runId);
  await reviewRun(world.context(), waiting.runId);
  const [notice, ...others] = await noticesOf(world);
  expect(others).toEqual([]);
  expect(notice?.subject).toContain("2 vendors: records were changed");
  expect(notice?.roles).toEqual(["operator", "owner"]);
  expect(notice?.text).toContain(
    "1 bill, $200.00: above the playbook's amount, so its payment was cancelled.",
  );
  expect(notice?.text).toContain(
    `is on hold. If it is right: payrun release ${cancelled.payableId}`,
  );
});

async function holdBill(world: MoneyWorld, value: string): Promise<string> {
  const hold = { businessId: world.businessId, scope: "payable", value, reason: "Call." } as const;
  const set = { ...hold, author: "olga", nowMs: Date.now() };
  return (await world.store.transaction((trx) => createHold(trx, set))).holdId;
}

/** Cancels the payments whose cancel Payrun has asked for by itself. */
async function cancelAlarmed(world: MoneyWorld): Promise<void> {
  const rows = await world.store.db.selectFrom("cancellations").select("workflow_id").execute();
  for (const { workflow_id: id } of rows) {
    await choosePayments(world.context(), id);
    await new CancelWorld(world).turns(id);
  }
}

/** Looks at a bill's payments and vendor as after an event about it. */
async function lookAgain(
  world: MoneyWorld,
  { runId, payableId }: { readonly runId: string; readonly payableId: string },
): Promise<void> {
  await changeLine(world.store.db, { runId, payableId }, { look: true }, Date.now());
  await world.follow(runId);
}

/** Lets the time pass in which more changes of the same sync would have been noticed. */
async function afterQuiet(world: MoneyWorld): Promise<void> {
  await world.store.db
    .updateTable("run_lines")
    .set({ record_asked_at_ms: 1 })
    .where("record_asked_at_ms", "is not", null)
    .execute();
}

function noticesOf(world: MoneyWorld) {
  return listNotices(world.store.db, { kind: "changed-record", limit: 10 });
}
