import { sql } from "kysely";
import { expect, test } from "vitest";
import { ClockReading } from "../../src/business/clock.ts";
import { cancelSubject } from "../../src/contracts/names.ts";
import { topUpHash } from "../../src/domain/approvals/hashes.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import type { Wish } from "../../src/ledger/facts.ts";
import { askAbout, type GateAnswer } from "../../src/ledger/gate.ts";
import { cancel, deposit, type Operation } from "../../src/ledger/operations.ts";
import { cancelRequest, depositRequest } from "../../src/ledger/requests.ts";
import { insertItem, listItems } from "../../src/store/cancellations/cancellation-items.ts";
import { insertCancellation } from "../../src/store/cancellations/cancellations.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import type { Store } from "../../src/store/index.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import { approvedRun, lease } from "../store/approved-run.ts";
import { testStore } from "../store/support.ts";
import { proposedDeposit } from "../support/proposed-deposit.ts";

const businessId = "biz_1";

type Fields = Readonly<Record<string, unknown>>;

/** Changes the body of a request. */
function withBody(change: (fields: Fields) => Fields): (wish: Wish) => Wish {
  return (wish) => ({ ...wish, body: JSON.stringify(change(JSON.parse(wish.body) as Fields)) });
}

const OTHER_REQUESTS: Readonly<Record<string, (wish: Wish) => Wish>> = {
  "another path": (wish) => ({ ...wish, path: "/v1/balance/withdrawals" }),
  "another bill": withBody((fields) => ({ ...fields, payableId: "p2" })),
  "another amount": withBody((fields) => ({ ...fields, amountCents: 777_777 })),
  "another amount beside the approved one": (wish) => ({
    ...wish,
    body: wish.body.replace("}", ',"amountCents":777777}'),
  }),
  "an amount as a text": withBody((fields) => ({ ...fields, amountCents: "10000" })),
  "another day": withBody((fields) => ({ ...fields, scheduledAt: "2026-11-06" })),
  "another day in all its terms": (wish) => ({
    ...withBody((fields) => ({ ...fields, scheduledAt: "2026-11-06" }))(wish),
    executionDate: "2026-11-06",
  }),
  "no day": withBody(({ scheduledAt: _, ...fields }) => fields),
  "another clearing": withBody((fields) => ({ ...fields, clearing: "NEXT_AVAILABLE" })),
  "another rail": withBody((fields) => ({ ...fields, paymentRail: "PROVIDER" })),
  "another source": withBody((fields) => ({ ...fields, fundingSource: "linked_bank" })),
  "an account that the line doesn't name": withBody((fields) => ({
    ...fields,
    bankAccountId: "bank_of_a_stranger",
  })),
  "an authorization that nobody has given": withBody((fields) => ({
    ...fields,
    achAuthorizationAccepted: true,
  })),
  "a field that nobody knows": withBody((fields) => ({ ...fields, contactId: "con_2" })),
  "a body that is no JSON": (wish) => ({ ...wish, body: "amountCents=10000" }),
  "another vendor on record": (wish) => ({ ...wish, contactId: "con_2" }),
  "another owner on record": (wish) => ({ ...wish, owner: "pay-run/acme/other" }),
};

test.for(Object.entries(OTHER_REQUESTS))(
  "a request with %s is never written: people are told, and the bill is on hold",
  async ([, wish]) => {
    const { store } = await testStore();
    const runId = await approvedRun(store, "weekly", ["p1"]);
    const { closed, sent } = await lease(store, runId, { wish });
    expect({ closed, sent }).toEqual({ closed: { p1: "not_as_approved" }, sent: [] });
    await expectAlarm(store);
    const holds = await activeHolds(store.db, businessId, 0);
    expect(holds).toMatchObject([{ scope: "payable", value: "p1", author: "payrun" }]);
  },
);

/** Expects that nothing was written to be sent, and that operators and the trail know why. */
async function expectAlarm({ db }: Store): Promise<void> {
  expect(await db.selectFrom("sends").selectAll().execute()).toEqual([]);
  const notices = await db.selectFrom("notices").select(["kind", "roles"]).execute();
  expect(notices).toEqual([{ kind: "not-as-approved", roles: '["operator"]' }]);
  const trail = await db.selectFrom("audit").select("action").execute();
  expect(trail).toContainEqual({ action: "alarm:not-as-approved" });
}

/** Asks the gate for a request that nothing but its own terms forbids. */
function ask(
  store: Store,
  operation: Operation,
  { subject, wish }: { readonly subject: string; readonly wish: Wish },
): Promise<GateAnswer> {
  return store.transactionOf(businessId, async (trx) => {
    const serviceMs = 5_000;
    const clock = new ClockReading({
      businessMs: 5_000,
      serviceHeard: true,
      sandbox: true,
      realMs: Date.now(),
    });
    const reading = {
      ...{ begunAtMs: await databaseNowMs(trx), begunServiceMs: serviceMs },
      ...{ isWhole: true, shownIds: [], shown: [] },
    };
    const caller = { businessId, operation, sentBy: "worker-1", owner: wish.owner, clock };
    return askAbout(trx, caller, { subject, wish, reading }, () => Promise.resolve(new Map()));
  });
}

const REFUSED = { kind: "closed", closed: { code: "not_as_approved" } };

/** Stores a cancellation of one payment; returns what the gate is asked for. */
async function askedCancel(store: Store) {
  const cancellation = {
    ...{ workflowId: "cancel-scheduled-payments/acme/1", businessId, business: "acme" },
    ...{ playbook: "", policy: cancelOfPayments(["pay_1"]), runId: null, reason: "wrong" },
  };
  await store.transaction(async (trx) => {
    await insertCancellation(trx, { ...cancellation, requestedBy: "olga", nowMs: 1 });
    const { workflowId } = cancellation;
    const item = {
      ...{ workflowId, itemNo: 0, businessId, paymentId: "pay_1", payableId: "p1" },
      ...{ contactId: "v1", amountCents: 10_000, state: "unknown" as const, open: true },
      ...{ reason: null, holdId: null },
    };
    await insertItem(trx, item, 1);
  });
  const [item] = await listItems(store.db, cancellation.workflowId);
  if (item === undefined) throw new Error("nothing is to be cancelled");
  const wish = cancelRequest(cancellation, { ...item, paymentId: "pay_1" });
  return { subject: cancelSubject("pay_1"), wish };
}

const OTHER_CANCELS: Readonly<Record<string, (wish: Wish) => Wish>> = {
  "another payment": (wish) => ({ ...wish, path: "/v1/payments/pay_2/cancel" }),
  "a payment instead of a cancel": (wish) => ({ ...wish, path: "/v1/payments" }),
  "another reason": withBody(() => ({ reason: "right" })),
  "a field that nobody knows": withBody((fields) => ({ ...fields, amountCents: 1 })),
  "another amount on record": (wish) => ({ ...wish, amountCents: 1 }),
};

test.for(Object.entries(OTHER_CANCELS))(
  "a cancel with %s is never written, and people are told; the one that was asked for is",
  async ([, other]) => {
    const { store } = await testStore();
    const asked = await askedCancel(store);
    expect(await ask(store, cancel, { ...asked, wish: other(asked.wish) })).toMatchObject(REFUSED);
    await expectAlarm(store);
    expect(await ask(store, cancel, asked)).toMatchObject({ kind: "open" });
  },
);

/** Stores a deposit; returns what the gate is asked for. */
async function askedDeposit(store: Store) {
  const subject = "deposit/balance/run-1/1";
  const terms = {
    ...{ businessId, subject, amountCents: 10_000, planHash: "plan" },
    account: { bankAccountId: "bank_1", name: null, last4: "1234" },
  };
  const asked = {
    ...{ ...terms, business: "acme", sourceId: "balance", owner: "run-1", policyRunId: "run-1" },
    ...{ requestNo: 1, neededOn: "2026-11-05", makeBy: "2026-11-02", arrivesOn: "2026-11-04" },
    ...{ late: false, hash: topUpHash(terms), approvers: ["owner"], quorum: 1, sinceMs: 1 },
  };
  const topUp = await store.transactionOf(businessId, (trx) =>
    proposedDeposit(trx, { ...asked, nowMs: 1 }),
  );
  return { subject, wish: depositRequest(topUp) };
}

const OTHER_DEPOSITS: Readonly<Record<string, (wish: Wish) => Wish>> = {
  "another path": (wish) => ({ ...wish, path: "/v1/balance/withdrawals" }),
  "another amount": withBody((fields) => ({ ...fields, amountCents: 777_777 })),
  "another account": withBody((fields) => ({ ...fields, bankAccountId: "bank_of_a_stranger" })),
  "a field that nobody knows": withBody((fields) => ({ ...fields, payableId: "p1" })),
  "another day on record": (wish) => ({ ...wish, executionDate: "2026-11-03" }),
};

test.for(Object.entries(OTHER_DEPOSITS))(
  "a deposit with %s is never written: people are told, and its account is on hold",
  async ([, other]) => {
    const { store } = await testStore();
    const asked = await askedDeposit(store);
    const wish = other(asked.wish);
    expect(await ask(store, deposit, { ...asked, wish })).toMatchObject(REFUSED);
    await expectAlarm(store);
    const holds = await activeHolds(store.db, businessId, 0);
    expect(holds).toMatchObject([{ scope: "source", value: "balance", author: "payrun" }]);
  },
);

test("a deposit that is not what its approved hash names is never made, and one that is, is", async () => {
  const { store } = await testStore();
  const asked = await askedDeposit(store);
  await store.db.updateTable("top_ups").set({ amount_cents: 777_777 }).execute();
  const raised = withBody((fields) => ({ ...fields, amountCents: 777_777 }))(asked.wish);
  const wish = { ...raised, amountCents: 777_777 };
  expect(await ask(store, deposit, { ...asked, wish })).toMatchObject(REFUSED);
  await expectAlarm(store);
  await store.db.updateTable("top_ups").set({ amount_cents: 10_000 }).execute();
  expect(await ask(store, deposit, asked)).toMatchObject({ kind: "open" });
});

test("a stored line that is not what its approved hash names is never paid", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1"]);
  // Insert-only rows can still be changed by whoever owns the database.
  await sql`drop trigger if exists plan_lines_no_update`.execute(store.db);
  const { line } = await store.db.selectFrom("plan_lines").select("line").executeTakeFirstOrThrow();
  const changed = line.replace('"fundingSource":"balance"', '"fundingSource":"linked_bank"');
  expect(changed).not.toBe(line);
  await store.db.updateTable("plan_lines").set({ line: changed }).execute();
  expect(await lease(store, runId)).toMatchObject({ closed: { p1: "not_as_approved" }, sent: [] });
});
