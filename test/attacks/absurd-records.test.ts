import { fc } from "@fast-check/vitest";
import { expect, onTestFinished } from "vitest";
import { HistoryBody } from "../../src/api/history.ts";
import { RunReviewBody } from "../../src/api/review.ts";
import { AnyStatusBody } from "../../src/api/statuses.ts";
import { statusLines } from "../../src/cli/show/any-status.ts";
import { historyLines } from "../../src/cli/show/history.ts";
import { billLines, reviewDigest, reviewHead } from "../../src/cli/show/review.ts";
import { getRunLine } from "../../src/store/lines/lines.ts";
import { getPlanLines, listSkipped } from "../../src/store/lines/plan-lines.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { PlanRefusedError } from "../../activities/shared/plan-refused-error.ts";
import { inDays, POLICY } from "../activities/planning-world.ts";
import { type MoneyWorld, test as moneyTest } from "../activities/money-world.ts";
import { signedIn, type Visits } from "../console/support/visits.ts";
import { startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { DEEP } from "../support/deep-json.ts";
import { isLong } from "../support/long.ts";
import { startRewritingFront } from "../support/rewriting-front.ts";
import type { Json } from "../support/sandbox.ts";

/** A business whose service lies as the front says, with a gateway over the same store. */
const test = moneyTest
  .extend("front", async ({ world }, { onCleanup }) => {
    const front = await startRewritingFront(world.world.sandbox.url);
    onCleanup(() => front.stop());
    world.world.apiUrl = front.url;
    await world.world.reset();
    return front;
  })
  .extend("gateway", async ({ world, front: _ }) => {
    const { profile, folder } = world.world;
    const gateway = await startTestGateway({ profiles: [profile], folder });
    onTestFinished(() => gateway.stop());
    return gateway;
  })
  .extend("console", ({ gateway }) => signedIn(gateway, "cora", ["controller", "admin"]));

type Resource =
  | "payables"
  | "payments"
  | "contacts"
  | "funding-sources"
  | "bank-accounts"
  | "balance"
  | "balance/transactions";

/** The documented fields of each resource (API specification, section 2). */
const FIELDS: Readonly<Record<Resource, readonly string[]>> = {
  payables: [
    ...["id", "publicId", "status", "paymentStatus", "totalAmountCents", "amountPaidCents"],
    ...["remainingAmountCents", "dueDate", "issueDate", "customNumber", "description", "contact"],
    "items",
  ],
  payments: [
    ...["id", "status", "amountCents", "contactId", "payableId", "bankAccountId", "paymentRail"],
    ...["scheduledAt", "processedAt", "failureReason", "createdAt", "updatedAt"],
  ],
  contacts: [
    ...["id", "type", "status", "displayName", "emails", "phone", "paymentDirection", "netTerms"],
    ...["bankAccount", "taxInfo", "paymentReady", "createdAt", "updatedAt", "archivedAt"],
  ],
  "funding-sources": [
    ...["id", "rail", "kind", "name", "last4", "availableCents", "isDefault", "canPay"],
    ...["unavailableReason", "actionUrl", "pay"],
  ],
  "bank-accounts": [
    ...["id", "status", "type", "connectionType", "name", "institutionName", "accountNumberLast4"],
    ...["isDefault", "microDepositsInitiatedAt", "verificationAttempts"],
  ],
  balance: [
    ...["status", "availableCents", "cashCents", "reservedCents", "isReady", "canSendPayments"],
    ...["sameDayAch", "linkedBank", "dashboardUrl"],
  ],
  "balance/transactions": [
    ...["id", "type", "status", "amountCents", "bankAccountId", "failureReason", "createdAt"],
    ...["processedAt", "updatedAt"],
  ],
};

const absurd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[undefined, null, "", ".", "..", "unreadable", 0, -1, -5151, 12.5, 1e300, 2 ** 53, "42.42"],
    ...[
      "0026-11-20",
      "9999-12-31",
      "+275760-09-13T00:00:00Z",
      "2026-02-30",
      "0000-00-00",
      "+275760-09-13",
      "NaN",
      "1e3",
      "a/../b",
      "\u001b[2J",
      "20.11.2026",
      "\ud800",
    ],
    ...["x".repeat(1_000_000), [], {}, [null], { id: 7 }, { last4: 4321 }, true, "nul\0", DEEP],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Changes one field of one record wherever a list or a read of its own shows it. */
function changing(resource: Resource, id: string, field: string, value: unknown) {
  const change = (record: unknown): unknown =>
    isRecord(record) && (id === "" || record["id"] === id) ? { ...record, [field]: value } : record;
  return (path: string, body: unknown): unknown => {
    if (!path.startsWith(`/v1/${resource}`) || !isRecord(body)) return body;
    const { items } = body;
    const isList = Array.isArray(items) && !("id" in body);
    return isList ? { ...body, items: items.map(change) } : change(body);
  };
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Bills {
  /** The bill that the absurd record is about: $100.00, of which $30.00 are on their way. */
  readonly odd: string;
  readonly paymentId: string;
  /** The bill of another vendor, of $100.00. */
  readonly other: string;
}

async function enterBills(world: MoneyWorld, dueDate = inDays(8)): Promise<Bills> {
  const bill = { dueDate, status: "approved", totalAmountCents: 10_000, issueDate: inDays(-20) };
  const odd = await world.control.createPayable({ ...bill, contactId: "v1" });
  const other = await world.control.createPayable({ ...bill, contactId: "v2" });
  await world.control.payOutside(odd.id, 3_000);
  const [payment] = await moneySent(world, odd.id);
  return { odd: odd.id, other: other.id, paymentId: String(payment?.["id"]) };
}

/** Reads what the sandbox itself has of a bill, past the front. */
async function moneySent(world: MoneyWorld, payableId: string): Promise<Json[]> {
  const { url, business } = world.world.sandbox;
  const answer = await fetch(`${url}/v1/payments?payableId=${payableId}`, {
    headers: { authorization: `Bearer ${business.token}` },
  });
  return ((await answer.json()) as { items: Json[] }).items;
}

async function centsSent(world: MoneyWorld, payableId: string): Promise<number> {
  const sent = await moneySent(world, payableId);
  return sent.reduce((sum, { amountCents }) => sum + Number(amountCents), 0);
}

/** What commands print of an answer of 200; `payrun show` of the review, `explain` of the history. */
function printed(path: string, json: unknown): string[] {
  if (path.endsWith("/history")) return historyLines(HistoryBody.parse(json));
  if (path.endsWith("/report") || !path.startsWith("/v1/runs/")) return [];
  if (!path.endsWith("/review")) return statusLines(AnyStatusBody.parse(json));
  const review = RunReviewBody.parse(json);
  return [...reviewHead(review), ...billLines(review.bills), ...reviewDigest(review)];
}

/** Opens everything that shows these bills to people or machines. */
async function openAll(
  { gateway, console: visits }: { readonly gateway: TestGateway; readonly console: Visits },
  runId: string,
  { odd, other }: Bills,
): Promise<void> {
  const token = await gateway.token(`viewer-${runId}`, ["viewer"]);
  const run = `/v1/runs/${encodeURIComponent(runId)}`;
  const paths = [run, `${run}/review`, `${run}/report`, `/v1/payables/${odd}/history`];
  const more = [`/v1/payables`, "/v1/contacts/v1", "/v1/payments?since=2020-01-01", "/v1/overview"];
  more.push(`/v1/reports?from=${inDays(-20)}&to=${inDays(20)}`);
  for (const path of [...paths, ...more, "/metrics"]) {
    const { status, text, json } = await gateway.call("GET", path, token);
    expect(status, `${path}: ${text.slice(0, 500)}`).toBeLessThan(500);
    if (status === 200) expect(() => printed(path, json), path).not.toThrow();
  }
  const page = `/runs/${encodeURIComponent(runId)}`;
  const pages = ["/", page, `/bills/${odd}`, `/bills/${other}`, "/vendors/v1", "/needs-action"];
  for (const path of [...pages, `/reports/${encodeURIComponent(runId)}`]) {
    const { status, text } = await visits.get(path);
    expect(status, `${path}: ${text.slice(0, 500)}`).toBeLessThan(500);
  }
}

test("whatever the service says in a field of one record, its bill is never paid too much, everybody else is paid, and every page and command shows it", async ({
  world,
  front,
  gateway,
  console: visits,
}) => {
  const pages = { gateway, console: visits };
  const field = fc
    .constantFrom(...(Object.keys(FIELDS) as Resource[]))
    .chain((resource) => fc.tuple(fc.constant(resource), fc.constantFrom(...FIELDS[resource])));
  await fc.assert(
    fc.asyncProperty(field, absurd, fc.boolean(), async ([resource, name], value, isLate) => {
      front.rewrite = (_path, body) => body;
      const bills = await enterBills(world);
      const ids = { payables: bills.odd, payments: bills.paymentId, contacts: "v1" };
      const id = (ids as Readonly<Record<string, string>>)[resource] ?? "";
      const rewrite = changing(resource, id, name, value);
      if (!isLate) front.rewrite = rewrite;
      const isOurs = id === "";
      const planned = await world.approvedRun([]).catch((error: unknown) => {
        // What the business pays from concerns all its bills; nothing else refuses a plan.
        expect({ isOurs, error }).toMatchObject({
          isOurs: true,
          error: expect.any(PlanRefusedError),
        });
      });
      front.rewrite = rewrite;
      if (planned === undefined) return;
      const { runId } = planned;
      await world.pay(runId);
      await world.follow(runId);
      await world.assess(runId);
      await openAll(pages, runId, bills);
      expect(await centsSent(world, bills.odd)).toBeLessThanOrEqual(10_000);
      if (isOurs) return;
      const skipped = await listSkipped(world.store.db, runId);
      const reason = skipped.find(({ payableId }) => payableId === bills.other)?.text ?? "";
      const holdsAccount = resource === "payments" && name === "payableId";
      const held = holdsAccount ? await heldReason(world, runId, bills.other) : null;
      if (holdsAccount && reason !== "") expect(reason).toContain("its bill can't be read");
      else if (held !== null) expect(held).toContain("its bill can't be read");
      else expect(await centsSent(world, bills.other)).toBe(10_000);
    }),
    { numRuns: isLong ? 200 : 15 },
  );
}, 600_000);

/** Returns what last kept a line back, also once it is tried again; null if nothing did. */
async function heldReason(
  { store }: MoneyWorld,
  runId: string,
  payableId: string,
): Promise<string | null> {
  const line = await getRunLine(store.db, runId, payableId);
  return line?.reason ?? null;
}

/** Plans both bills and says why the first is left out, as a person reads it. */
async function leftOutText(world: MoneyWorld, { odd, other }: Bills): Promise<string> {
  const { runId } = await world.approvedRun([]);
  await world.pay(runId);
  expect(await centsSent(world, other)).toBe(10_000);
  const skipped = await listSkipped(world.store.db, runId);
  const { code, text } = skipped.find(({ payableId }) => payableId === odd) ?? {};
  expect(code).toBe("unreadable");
  const summary = (await getPlan(world.store.db, runId))?.summary;
  expect(summary?.warnings?.join("\n")).toContain(text);
  const notices = await world.store.db.selectFrom("notices").select("text").execute();
  expect(notices.map((notice) => notice.text).join("\n")).toContain(text);
  return text ?? "";
}

test.for([
  ["payables", "contact", DEEP, "Its vendor can't be read (a list)."],
  ["payables", "totalAmountCents", 2 ** 53, "Its amount can't be read (9007199254740992)."],
  ["payables", "totalAmountCents", 2e12, "Its amount can't be read (2000000000000)."],
  ["payables", "totalAmountCents", 12.5, "Its amount can't be read (12.5)."],
  ["payables", "totalAmountCents", "42.42", "Its amount can't be read (42.42)."],
  ["payables", "totalAmountCents", null, "Its amount can't be read (null)."],
  ["payables", "amountPaidCents", 12.5, "Its amount paid can't be read (12.5)."],
  ["payables", "dueDate", "0026-11-20", "Its due date can't be read (0026-11-20)."],
  ["payables", "dueDate", "0999-11-20", "Its due date can't be read (0999-11-20)."],
  ["payables", "contact", [], "Its vendor can't be read (a list)."],
  ["contacts", "paymentReady", "yes", "One: its readiness to be paid can't be read (yes)."],
  ["payments", "amountCents", -5151, "its amount can't be read (-5151)."],
  ["payments", "status", null, "its status can't be read (null)."],
] as const)(
  "a service that shows %s.%s as %j keeps only that bill from being paid, and people read which and why",
  async ([resource, field, value, text], { world, front }) => {
    const bills = await enterBills(world);
    const ids = { payables: bills.odd, payments: bills.paymentId, contacts: "v1" };
    front.rewrite = changing(resource, ids[resource], field, value);
    expect(await leftOutText(world, bills)).toContain(text);
  },
);

test.for(["payables", "payments", "contacts", "bank-accounts"] as const)(
  "an id of one of the %s that is deeper than any stack keeps nobody else from being paid, and every page opens",
  async (resource, { world, front, gateway, console: visits }) => {
    const bills = await enterBills(world);
    const ids = { payables: bills.odd, payments: bills.paymentId, contacts: "v1" };
    const id = (ids as Readonly<Record<string, string>>)[resource] ?? "";
    front.rewrite = changing(resource, id, "id", DEEP);
    const { runId } = await world.approvedRun([]);
    await world.pay(runId);
    await openAll({ gateway, console: visits }, runId, bills);
    expect(await centsSent(world, bills.other)).toBe(10_000);
    expect(await centsSent(world, bills.odd)).toBeLessThanOrEqual(10_000);
  },
);

test.for([undefined, null, "2", -1, 12.5, 0, 2 ** 53, 1e12, {}])(
  "lists whose totalCount is %j keep nobody from being paid",
  async (totalCount, { world, front }) => {
    const { odd, other } = await enterBills(world);
    front.rewrite = (_path, body) =>
      isRecord(body) && "totalCount" in body ? { ...body, totalCount } : body;
    const { runId } = await world.approvedRun([]);
    await world.pay(runId);
    expect([await centsSent(world, odd), await centsSent(world, other)]).toEqual([10_000, 10_000]);
  },
);

test("a due date of the year 26 does no harm where it doesn't decide, and its approvers read it", async ({
  world,
  front,
}) => {
  const { odd } = await enterBills(world);
  front.rewrite = changing("payables", odd, "dueDate", "0026-11-20");
  const pay = { ...POLICY.pay, on: "next-business-day" } as const;
  const { runId } = await world.approvedRun([], { select: { due: "all" }, pay });
  await world.pay(runId);
  expect(await centsSent(world, odd)).toBe(10_000);
  const line = (await getPlanLines(world.store.db, runId)).find(
    ({ plan }) => plan.payableId === odd,
  );
  expect(line?.plan.flags.map(({ text }) => text).join()).toContain("0026-11-20");
});

test("a payment that can't be read and names no bill holds its account, and the warning says so", async ({
  world,
  front,
}) => {
  const { odd, other, paymentId } = await enterBills(world);
  front.rewrite = changing("payments", paymentId, "payableId", 12);
  const { runId } = await world.approvedRun([]);
  await world.pay(runId);
  expect([await centsSent(world, odd), await centsSent(world, other)]).toEqual([3_000, 0]);
  const [warning] = (await getPlan(world.store.db, runId))?.summary.warnings ?? [];
  expect(warning).toContain(`Payment ${paymentId} may be on its way`);
});

test.for([1, 26])(
  "a payment that can't be read and names no bill after the approval holds up %i bills of its account until it is corrected",
  async (count, { world, front }) => {
    const { paymentId } = await enterBills(world);
    const { runId, payableIds } = await world.approvedRun(
      Array.from({ length: count }, () => ({ contactId: "v2" })),
    );
    front.rewrite = changing("payments", paymentId, "payableId", 12);
    await world.pay(runId);
    for (const payableId of payableIds) {
      expect(await centsSent(world, payableId)).toBe(0);
      expect(await heldReason(world, runId, payableId)).toContain(
        `Payment ${paymentId} may be on its way, and its bill can't be read (12)`,
      );
    }
    front.rewrite = (_path, body) => body;
    await world.control.advance("PT2H");
    await world.pay(runId);
    for (const payableId of payableIds) expect(await centsSent(world, payableId)).toBe(10_000);
  },
);

test("a payment that becomes unreadable after the approval parks its bill, and lets no second payment out", async ({
  world,
  front,
}) => {
  const { odd, other, paymentId } = await enterBills(world);
  const { runId } = await world.approvedRun([]);
  front.rewrite = changing("payments", paymentId, "amountCents", 0.5);
  await world.pay(runId);
  expect([await centsSent(world, odd), await centsSent(world, other)]).toEqual([3_000, 10_000]);
  expect(await world.line(runId, odd)).toMatchObject({
    ...{ state: "parked", reasonCode: "unreadable" },
    reason: expect.stringContaining(`${paymentId} may be on its way, and its amount can't be read`),
  });
});

test("a request without an answer is never repeated while a payment of its bill can't be read", async ({
  world,
  front,
}) => {
  const bill = { totalAmountCents: 10_000, contactId: "v2" };
  const { runId, payableId } = await world.approvedRun([bill]);
  front.rewrite = (path, body) =>
    path.startsWith("/v1/payments?") && isRecord(body) && Array.isArray(body["items"])
      ? { ...body, items: body["items"].map((each: Json) => ({ ...each, amountCents: "10000" })) }
      : body;
  world.override = world.lostAnswers();
  await world.pay(runId);
  world.override = {};
  for (let turn = 0; turn < 3; turn += 1) {
    await world.world.pass(20 * 60_000);
    await world.pay(runId);
  }
  expect(await centsSent(world, payableId)).toBe(10_000);
  expect(await world.line(runId, payableId)).toMatchObject({
    state: "unknown",
    reason: expect.stringContaining("can't be read"),
  });
  front.rewrite = (_path, body) => body;
  await world.world.pass(20 * 60_000);
  await world.pay(runId);
  const { state, paymentIds } = await world.line(runId, payableId);
  expect({ state, made: paymentIds.length }).toEqual({ state: "scheduled", made: 1 });
});
