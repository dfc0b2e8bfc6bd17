import { expect } from "vitest";
import { CancelWorld } from "../activities/cancel-world.ts";
import { type MoneyWorld, test as moneyTest } from "../activities/money-world.ts";
import { POLICY } from "../activities/planning-world.ts";
import { isLong } from "../support/long.ts";
import type { Json } from "../support/sandbox.ts";
import { type Rewrite, startRewritingFront } from "../support/rewriting-front.ts";
import { paid } from "./really-paid.ts";

/** A business with two accounts of its own, whose service lies as the front says. */
const test = moneyTest.extend("front", async ({ world }, { onCleanup }) => {
  const front = await startRewritingFront(world.world.sandbox.url);
  onCleanup(() => front.stop());
  world.world.apiUrl = front.url;
  await world.world.reset({
    bankAccounts: [{ id: "bank_main", isDefault: true }, { id: "bank_two" }],
  });
  world.achAuthorization = { acceptedBy: "Olga Owner", acceptedAt: "2026-01-02" };
  return front;
});

/** Changes every record of these resources, alone or in a list. */
function lying(resources: readonly string[], lie: (record: Json) => unknown): Rewrite {
  return (path, body) => {
    const [, , resource = ""] = path.split(/[/?]/);
    if (!resources.includes(resource)) return body;
    const { items } = body as { readonly items?: readonly Json[] };
    const isList = items !== undefined && !("totalAmountCents" in (body as Json));
    return isList ? { ...(body as Json), items: items.map(lie) } : lie(body as Json);
  };
}

/** Returns the bodies of all requests that were let through for a bill. */
async function bodies({ store }: MoneyWorld, payableId: string): Promise<Json[]> {
  const sends = store.db.selectFrom("sends").select("body").where("subject", "=", payableId);
  return (await sends.execute()).map(({ body }) => JSON.parse(body) as Json);
}

const ADDED: Readonly<Record<string, unknown>> = {
  amountCents: 777_777,
  payableId: "another_bill",
  contactId: "v2",
  scheduledAt: "2031-01-06",
  clearing: "NEXT_AVAILABLE",
  achAuthorizationAccepted: true,
  description: "a field that no approval knows",
};

test.for(Object.keys(ADDED))(
  "a funding source that adds %s to a request changes nothing of it",
  async (name, { world, front }) => {
    front.rewrite = lying(["funding-sources"], (source) => ({
      ...source,
      pay: { ...(source["pay"] as Json), [name]: ADDED[name] },
    }));
    const { runId, payableId } = await world.approvedRun([{}]);
    const { executionDate: day } = await world.line(runId, payableId);
    await world.pay(runId);
    const term = { payableId, amountCents: 10_000, scheduledAt: day, clearing: "STANDARD" };
    const from = { paymentRail: "SERVICE", fundingSource: "balance", bankAccountId: "bank_main" };
    expect(await bodies(world, payableId)).toEqual([{ ...term, ...from }]);
    expect(await paid(world, payableId)).toMatchObject([{ amountCents: 10_000, day }]);
  },
);

test.for([
  ["the account of a stranger", "bank_of_a_stranger", "foreign_account"],
  ["a record as its account", { id: "bank_main" }, "unusable_fields"],
  ["a megabyte as its account", "x".repeat(1_000_000), "unusable_fields"],
] as const)(
  "a funding source that names %s can't pay, and says why",
  async ([, bankAccountId, code], { world, front }) => {
    front.rewrite = lying(["funding-sources"], (source) => ({
      ...source,
      pay: { ...(source["pay"] as Json), bankAccountId },
    }));
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    expect(await bodies(world, payableId)).toEqual([]);
    expect((await world.line(runId, payableId)).reason).toContain(code);
    front.rewrite = (_, body) => body;
    await world.pay(runId);
    expect(await bodies(world, payableId)).toEqual([]);
    expect((await world.line(runId, payableId)).state).toBe("awaiting-approval");
    await world.approve(runId);
    await world.pay(runId);
    expect(await paid(world, payableId)).toMatchObject([{ amountCents: 10_000 }]);
    expect(await bodies(world, payableId)).toMatchObject([{ bankAccountId: "bank_main" }]);
  },
);

/** The documented fields of each resource, each with something plausible and untrue. */
const LIES: Readonly<Record<string, Json>> = {
  "funding-sources": {
    ...{ id: "bank_two", rail: "PROVIDER", kind: "bank", name: "Other", last4: "9999" },
    ...{ availableCents: 1, isDefault: false, canPay: false },
    pay: { paymentRail: "PROVIDER", bankAccountId: "bank_two" },
  },
  payables: {
    ...{ id: "another_bill", publicId: "P-1", status: "void", paymentStatus: "settled" },
    ...{ totalAmountCents: 777_777, amountPaidCents: 9_999, remainingAmountCents: 777_777 },
    ...{ dueDate: "2031-01-06", contact: { id: "v2", displayName: "Two" } },
  },
  contacts: {
    ...{ id: "v2", type: "business", status: "revoked", displayName: "Other" },
    ...{ bankAccount: { last4: "9999" }, paymentReady: false, updatedAt: "2026-01-01T00:00:00Z" },
  },
  payments: {
    ...{ id: "pay_of_another", status: "failed", amountCents: 777_777, contactId: "v2" },
    ...{ payableId: "another_bill", bankAccountId: "bank_two", paymentRail: "PROVIDER" },
    ...{ scheduledAt: "2031-01-06", createdAt: "2026-01-01T00:00:00Z" },
  },
  balance: { status: "closed", availableCents: 1, canSendPayments: false },
};

interface Lie {
  readonly resource: string;
  readonly name: string;
  readonly value: unknown;
}

/** Every field of every answer. */
const EACH: readonly Lie[] = Object.entries(LIES).flatMap(([resource, fields]) =>
  Object.entries(fields).map(([name, value]) => ({ resource, name, value })),
);

/**
 * Every field of every answer; in the long form also every two of one answer, and every seventh two
 * of different ones.
 */
const UNTRUE: readonly (readonly Lie[])[] = EACH.flatMap((one, at) => {
  const others = EACH.slice(at + 1).filter(
    ({ resource }, after) => resource === one.resource || after % 7 === 0,
  );
  return [[one], ...(isLong ? others.map((other) => [one, other]) : [])];
});

/** Tells lies about fields, each in all records of its resource. */
function tellingAll(lies: readonly Lie[]): Rewrite {
  const rewrites = lies.map(({ resource, name, value }) =>
    lying([resource], (record) => ({ ...record, [name]: value })),
  );
  return (path, body) => rewrites.reduce((told, rewrite) => rewrite(path, told), body);
}

test("whatever the service says after an approval, only the approved amount, bill, account and day are sent", async ({
  world,
  front,
}) => {
  let sent = 0;
  for (const lies of UNTRUE) {
    front.rewrite = (_, body) => body;
    const { runId, payableId } = await world.approvedRun([{}]);
    const { executionDate: scheduledAt } = await world.line(runId, payableId);
    front.rewrite = tellingAll(lies);
    await world.pay(runId);
    const terms = { payableId, amountCents: 10_000, scheduledAt, bankAccountId: "bank_main" };
    for (const body of await bodies(world, payableId)) {
      sent += 1;
      expect(body, JSON.stringify(lies)).toMatchObject(terms);
    }
  }
  // Many fields decide nothing: bills are paid all the same.
  expect(sent).toBeGreaterThan(10);
}, 900_000);

test("a cancel goes to no other payment than the one that was asked for, whatever its read shows", async ({
  world,
  front,
}) => {
  const run = await world.approvedRun([{}, {}], {
    pay: { ...POLICY.pay, on: "next-business-day" },
  });
  await world.pay(run.runId);
  const [asked = "", other = ""] = await Promise.all(
    run.payableIds.map(async (id) => (await world.paymentsOf(id))[0]?.id ?? ""),
  );
  const cancels = new CancelWorld(world);
  const id = await cancels.ask({ payments: [asked] });
  front.rewrite = (path, body) =>
    path === `/v1/payments/${asked}` ? { ...(body as Json), id: other } : body;
  await cancels.turns(id, 3);
  const paths = await world.store.db
    .selectFrom("sends")
    .select("path")
    .where("path", "like", "%/cancel")
    .execute();
  expect(paths.map(({ path }) => path)).not.toContain(`/v1/payments/${other}/cancel`);
  front.rewrite = (_, body) => body;
  expect(await world.paymentsOf(run.payableIds[1] ?? "")).toEqual([
    { id: other, status: "scheduled" },
  ]);
});

/** Lists every payment as bounced; single payments and bills are shown as they are. */
const BOUNCED = lying(["payments"], (payment) => ({
  ...payment,
  status: "failed",
  failureReason: "R01 insufficient funds",
  updatedAt: new Date(Date.now() + 86_400_000).toISOString(),
}));

function noticesOf({ store }: MoneyWorld, payableId: string) {
  return store.db
    .selectFrom("notices")
    .select(["kind", "text"])
    .where("data", "like", `%${payableId}%`)
    .where("kind", "=", "payment-late")
    .execute();
}

test("a bill that says that it is being paid is not paid again, whatever its payments are listed as, and operators hear of it", async ({
  world,
  front,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  front.rewrite = BOUNCED;
  await world.follow(runId);
  const reason = expect.stringContaining("The bill says that its payment is scheduled") as string;
  for (let tries = 0; tries < 8; tries += 1) {
    await world.retry(payableId);
    await world.world.pass(10 * 60_000);
  }
  expect(await world.line(runId, payableId)).toMatchObject({ state: "retrying", reason });
  expect(await bodies(world, payableId)).toHaveLength(1);
  expect(await noticesOf(world, payableId)).toEqual([{ kind: "payment-late", text: reason }]);
});

test("a bill that still says shortly after a failure that it is being paid is paid again once it says otherwise", async ({
  world,
  front,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await world.pay(runId);
  await world.control.advance("P9D");
  front.rewrite = lying(["payables"], (bill) => ({ ...bill, paymentStatus: "processing" }));
  await world.follow(runId);
  await world.look(payableId);
  await world.payAgain(payableId);
  expect(await bodies(world, payableId)).toHaveLength(1);
  front.rewrite = (_, body) => body;
  await world.world.pass(60_000);
  await world.payAgain(payableId);
  expect(await bodies(world, payableId)).toHaveLength(2);
  expect(await noticesOf(world, payableId)).toEqual([]);
});

test("a bill that says that a payment is scheduled gets no next key, though the answer denies it and no list shows it", async ({
  world,
  front,
}) => {
  const { runId, payableId } = await world.approvedRun([{}]);
  const client = world.context().clientOf("acme");
  const unconfirmed = {
    ...{ kind: "http" as const, status: 409, bodyText: "", headersDateMs: undefined },
    ...{ body: { error: "payment_unconfirmed", message: "unknown" }, retryAfterMs: undefined },
  };
  front.rewrite = (path, body) =>
    path.startsWith("/v1/payments?") ? { items: [], totalCount: 0 } : body;
  world.override = {
    sendMoneyWrite: async (request) => {
      await client.sendMoneyWrite(request);
      return unconfirmed;
    },
  };
  for (let turns = 0; turns < 9; turns += 1) {
    await world.pay(runId);
    await world.world.pass(10 * 60_000);
  }
  expect(new Set((await bodies(world, payableId)).map((body) => JSON.stringify(body))).size).toBe(
    1,
  );
  expect(await paid(world, payableId)).toHaveLength(1);
  expect((await world.line(runId, payableId)).reason).toContain("scheduled, but no payment of it");
  expect(await noticesOf(world, payableId)).toHaveLength(1);
});

test.for([
  { paymentStatus: "settled" },
  { paymentStatus: "paying" },
  { remainingAmountCents: 9_999 },
])("a bill with %o, of which no payment is listed, is not paid", async (lie, { world, front }) => {
  front.rewrite = lying(["payables"], (bill) => ({ ...bill, ...lie }));
  const { runId, payableId } = await world.approvedRun([{}]);
  await world.pay(runId);
  expect(await bodies(world, payableId)).toEqual([]);
  expect((await world.line(runId, payableId)).reasonCode).toBe("bill_contradicts_payments");
  front.rewrite = (_, body) => body;
  await world.world.pass(60_000);
  await world.pay(runId);
  expect(await bodies(world, payableId)).toHaveLength(1);
});

test("a bill on which more is paid than it comes to is put on hold once, and operators hear of it", async ({
  world,
  front,
}) => {
  front.rewrite = lying(["payables"], (bill) => ({ ...bill, amountPaidCents: 20_000 }));
  const { payableId } = await world.plannedRun([{}]);
  const [hold] = await world.holds();
  expect(hold).toMatchObject({ scope: "payable", value: payableId });
  expect(hold?.reason).toBe("The service shows $200.00 as paid on a bill of $100.00.");
  await world.planAgain([payableId], 5_000);
  expect(await world.holds()).toHaveLength(1);
  const notices = world.store.db.selectFrom("notices").select("kind");
  expect(await notices.where("data", "like", `%${payableId}%`).execute()).toEqual([
    { kind: "payment-in-doubt" },
  ]);
});
