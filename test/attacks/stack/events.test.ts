import { expect, test } from "vitest";
import { openCancellations } from "../../../src/store/cancellations/cancellations.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { deliver, eventBody, signed } from "../../gateway/support/gateway.ts";
import { type Bill, bills } from "../../support/bills.ts";
import { paidOnce, type TestPayrun } from "../../support/payrun.ts";
import { approve, each, plannedRun, stacks, untilEnded } from "../../support/stack.ts";
import { until } from "../../support/waits.ts";

const start = stacks();

/** The documented types, and some that nobody knows (API specification, section 6). */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  payable: [
    ...["created", "approved", "declined", "cancelled", "approval_reset", "payment.scheduled"],
    ...["payment.partially_paid", "paid", "payment.failed", "payment.reversed", "exploded"],
  ],
  bank_account: ["created", "verified", "verification_failed", "removed", "exploded"],
  contact: ["created", "updated", "archived", "unarchived", "exploded"],
  invoice: ["paid"],
};

const PLAYBOOKS = {
  "stop-changed":
    "kind: cancel-scheduled\nevents: [contact.updated, contact.archived, payable.approval_reset, payable.declined, payable.cancelled]\n",
  "stop-weekly":
    "kind: cancel-scheduled\nchoose: { run: weekly }\nevents: [contact.updated, contact.archived, payable.approval_reset, payable.declined, payable.cancelled]\n",
  "wait-changed":
    "kind: hold\nchoose: { run: weekly }\nevents: [contact.updated, contact.archived, payable.approval_reset, payable.declined, payable.cancelled]\n",
  failures: "kind: retry-failed\nevents: [payable.payment.failed, payable.payment.reversed]\n",
  "pay-now": "kind: pay-run\nevents: [payable.created, payable.approved]\n",
};

/** Sends ten signed events of each type about a bill, its vendor and our account. */
async function sendAll(payrun: TestPayrun, bill: Pick<Bill, "id" | "contactId">): Promise<void> {
  const { body } = await payrun.sandbox.api<{ items: { id: string }[] }>(
    "GET",
    "/v1/bank-accounts",
  );
  const ids: Readonly<Record<string, string>> = {
    ...{ payable: bill.id, contact: bill.contactId, bank_account: body.items[0]?.id ?? "" },
    invoice: "inv_1",
  };
  const { businessId } = payrun.sandbox.business;
  for (const [object, types] of Object.entries(TYPES)) {
    for (const type of types.flatMap((name) => Array<string>(10).fill(`${object}.${name}`))) {
      const objectId = ids[object] ?? "";
      const createdAt = new Date().toISOString();
      const text = eventBody({ type, object, objectId, businessId, createdAt });
      const signature = signed(text, Date.now(), payrun.webhookSecret);
      const { status } = await deliver(payrun.gatewayUrl, text, { business: "default", signature });
      expect(status).toBe(200);
    }
  }
}

/** Waits until everything that the events ask for has been looked at. */
async function allLooked({ store, sandbox }: TestPayrun): Promise<void> {
  const { db } = store;
  const { businessId } = sandbox.business;
  const left = async (): Promise<readonly unknown[]> => [
    ...(await db
      .selectFrom("inbox")
      .select("event_id")
      .where("dispatched_at_ms", "is", null)
      .execute()),
    ...(await db
      .selectFrom("event_starts")
      .select("event_id")
      .where("state", "in", ["waiting", "recorded"])
      .where("due_at_ms", "<=", Date.now())
      .execute()),
    ...(await db
      .selectFrom("account_looks")
      .select("account_id")
      .whereRef("looked", "<", "asked")
      .execute()),
    ...(await db.selectFrom("run_lines").select("payable_id").where("look", "=", 1).execute()),
    ...(await db
      .selectFrom("retries")
      .select("payable_id")
      .where("phase", "!=", "ended")
      .execute()),
    ...(await db.selectFrom("runs").select("run_id").where("phase", "=", "planning").execute()),
    ...(await openCancellations(db, businessId)),
  ];
  await until(left, (some) => some.length === 0);
}

test("ten events of each type about a bill, a vendor and an account that the service shows as before change no line, hold, payment and money, and notify nobody", async () => {
  const payrun = await start();
  const { runId, made } = await plannedRun(payrun, [100_00, 200_00]);
  await approve(payrun, runId);
  await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 2);
  const [bill] = made;
  if (bill === undefined) throw new Error("no bill");
  const [declined] = await bills(payrun.sandbox, [300_00]);
  await payrun.sandbox.control.changePayable(declined?.id ?? "", { status: "declined" });
  await allLooked(payrun);
  for (const [name, text] of Object.entries(PLAYBOOKS)) await payrun.apply(name, text);
  const { db } = payrun.store;
  const { businessId } = payrun.sandbox.business;
  const shown = async () => ({
    notices: (await listNotices(db, { businessId, limit: 500 })).map(({ kind, text }) => [
      kind,
      text,
    ]),
    holds: await db.selectFrom("holds").select(["value", "reason"]).execute(),
    lines: await db
      .selectFrom("run_lines")
      .select(["payable_id", "state", "funded", "reason", "amount_cents", "execution_date"])
      .orderBy("payable_id")
      .execute(),
    payments: (
      await payrun.sandbox.api<{ items: { id: string; status: string }[] }>("GET", "/v1/payments")
    ).body.items.map(({ id, status }) => `${id} ${status}`),
  });
  const before = await shown();
  await sendAll(payrun, bill);
  await sendAll(payrun, { id: declined?.id ?? "", contactId: "no_such_vendor" });
  await sendAll(payrun, { id: "no_such_bill", contactId: "no/such vendor" });
  await allLooked(payrun);
  expect(await shown()).toEqual(before);
  await untilEnded(payrun, runId);
  const { actual, expected } = await paidOnce(payrun, each(made));
  expect(actual).toEqual(expected);
});
