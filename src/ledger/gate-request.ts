import { requestNotAsApproved } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { byWorkflow, PAYRUN } from "../contracts/authors.ts";
import { cancelSubject } from "../contracts/names.ts";
import { topUpHash } from "../domain/approvals/hashes.ts";
import { onceEach } from "../domain/once-each.ts";
import { hashOfLine } from "../domain/planning/line-hash.ts";
import { earliestDate, lineDate, retryDate } from "../domain/planning/send-date.ts";
import { listItems } from "../store/cancellations/cancellation-items.ts";
import { getCancellation } from "../store/cancellations/cancellations.ts";
import { getTopUp } from "../store/deposits/deposits.ts";
import { createHold } from "../store/holds/holds.ts";
import { getRetry } from "../store/retries/retries.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { OperationName, Terms, Wish } from "./facts.ts";
import type { Closed, GateCaller, GateReads } from "./gate.ts";
import { READING_FRESH_MS } from "./next.ts";
import { cancelRequest, depositRequest, payRequest } from "./requests.ts";

/** A request that is about to be written. */
interface About {
  readonly subject: string;
  readonly terms: Terms;
}

/** What may be sent for a subject, by the rows of this transaction alone. */
interface Approved {
  /** Null if the stored terms are not those that their hash names. */
  readonly request: Wish | null;
  /** True if its date has passed since it was read. */
  readonly isLate?: boolean;
  /** What a hold is set on if the request is another one; null if a hold is in force already. */
  readonly holdOn: { readonly scope: "payable" | "source"; readonly value: string } | null;
}

type ReadApproved = (
  trx: Transaction<Tables>,
  caller: GateCaller,
  about: readonly About[],
  reads: GateReads,
) => Promise<ReadonlyMap<string, Approved>>;

const APPROVED: Readonly<Record<OperationName, ReadApproved>> = {
  pay: approvedPayments,
  cancel: approvedCancels,
  deposit: approvedDeposits,
};

/**
 * Compares the requests that are about to be written with what is approved, byte for byte. Another
 * request is never sent: it is a fault of Payrun, so people are notified and its bill is on hold.
 *
 * @returns the subjects whose requests may not be sent
 */
export async function refuseUnapproved(
  trx: Transaction<Tables>,
  caller: GateCaller,
  about: readonly About[],
  reads: GateReads,
): Promise<ReadonlyMap<string, Closed>> {
  const refused = new Map<string, Closed>();
  if (about.length === 0) return refused;
  const approved = await APPROVED[caller.operation.name](trx, caller, about, reads);
  for (const { subject, terms } of about) {
    const found = approved.get(subject);
    const differs = found === undefined ? null : differenceOf(terms, found.request);
    if (found === undefined || (differs === null && found.isLate === true)) {
      refused.set(subject, { code: "moved", reason: "it has changed since it was read" });
    } else if (differs !== null) {
      const reason = `A request was not the approved one: ${differs}`;
      await raiseAlarm(trx, caller, { subject, found, reason });
      refused.set(subject, { code: "not_as_approved", reason });
    }
  }
  return refused;
}

async function approvedPayments(
  trx: Transaction<Tables>,
  { businessId, owner, clock }: GateCaller,
  about: readonly About[],
  { businessMs, lines: read }: GateReads,
): Promise<Map<string, Approved>> {
  const approved = new Map<string, Approved>();
  // The caller has judged the date by its own clock, at most as long ago as a reading is fresh.
  const clocks = [
    clock.with({ businessMs }),
    clock.with({ realMs: clock.realMs - READING_FRESH_MS }),
  ];
  const earliest = clocks.map(earliestDate);
  for (const [runId, ofRun] of Map.groupBy(about, ({ terms }) => terms.runId)) {
    const run = await read.run(runId);
    if (run?.businessId !== businessId) continue;
    const lines = await read.of(
      runId,
      ofRun.map(({ subject }) => subject),
    );
    // Lines of few dates, each of which would cost more than the rest of the comparison.
    const datesOf = onceEach((planned) => clocks.map((at) => lineDate(planned, run, at)));
    for (const { subject, terms } of ofRun) {
      const line = lines.get(subject);
      if (line === undefined) continue;
      const { plan } = line;
      const retry = owner === runId ? undefined : await getRetry(trx, businessId, subject);
      const dates =
        retry === undefined
          ? datesOf(plan.executionDate)
          : clocks.map((at) => retryDate(retry, at));
      const date = terms.executionDate;
      const isLate = earliest.some((first) => date < first);
      const isDue = isLate || dates.includes(date);
      const isAsHashed =
        plan.payableId === subject && hashOfLine(businessId, plan) === line.lineHash;
      const due = isDue ? date : (dates[0] ?? plan.executionDate);
      approved.set(subject, {
        request: isAsHashed ? payRequest(plan, { owner, runId }, due) : null,
        isLate,
        holdOn: { scope: "payable", value: subject },
      });
    }
  }
  return approved;
}

/** A cancel's bill is on hold before it is let through. */
async function approvedCancels(
  trx: Transaction<Tables>,
  { businessId, owner }: GateCaller,
): Promise<Map<string, Approved>> {
  const cancellation = await getCancellation(trx, owner);
  if (cancellation?.businessId !== businessId) return new Map();
  const items = await listItems(trx, owner);
  return new Map(
    items.flatMap((item) => {
      const { paymentId } = item;
      if (paymentId === null) return [];
      const request = cancelRequest(cancellation, { ...item, paymentId });
      return [[cancelSubject(paymentId), { request, holdOn: null }]];
    }),
  );
}

async function approvedDeposits(
  trx: Transaction<Tables>,
  { businessId }: GateCaller,
  about: readonly About[],
): Promise<Map<string, Approved>> {
  const approved = new Map<string, Approved>();
  for (const { subject } of about) {
    const topUp = await getTopUp(trx, businessId, subject);
    if (topUp === undefined) continue;
    approved.set(subject, {
      request: topUpHash(topUp) === topUp.hash ? depositRequest(topUp) : null,
      holdOn: { scope: "source", value: topUp.sourceId },
    });
  }
  return approved;
}

/** Says in what a request differs from the approved one; null if in nothing. */
function differenceOf(terms: Terms, approved: Wish | null): string | null {
  if (approved === null) return "what is stored of it is not what its approval names";
  const { operation: _, body, ...others } = approved;
  const names = differing(terms, others);
  if (terms.body !== body) names.push(...differing(asFields(terms.body), asFields(body)), "body");
  return names.length === 0 ? null : `it differs in ${names.join(", ")}`;
}

function differing(one: object, other: object): string[] {
  const values = one as Readonly<Record<string, unknown>>;
  const names = Object.entries(other).filter(([name, value]) => values[name] !== value);
  return names.map(([name]) => name);
}

function asFields(body: string): object {
  try {
    return Object(JSON.parse(body)) as object;
  } catch {
    return {};
  }
}

async function raiseAlarm(
  trx: Transaction<Tables>,
  { businessId, owner, operation, clock }: GateCaller,
  about: { readonly subject: string; readonly found: Approved; readonly reason: string },
): Promise<void> {
  const { subject, found, reason } = about;
  const when = { businessId, nowMs: clock.realMs };
  const hold =
    found.holdOn && (await createHold(trx, { ...when, ...found.holdOn, reason, author: PAYRUN }));
  const { name } = operation;
  const alarm = { operation: name, reason, holdId: hold?.holdId };
  const head = { ...when, by: byWorkflow(owner), subject };
  await record(trx, requestNotAsApproved(head, alarm, { owner }));
}
