import { recordKey } from "../../../src/domain/vendor-account.ts";
import type { Bank, SeenRequest } from "../service/bank.ts";
import { type Book, stands } from "../service/book.ts";
import { heard, Reckoning } from "./reckoning.ts";
import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** This many refusals of the token may be a stored answer that is replayed. */
const TOKEN_REFUSALS = 3;

/** Rule 4: how long a key is sent again without a lookup, and how long bytes take to leave. */
const SAME_KEY_MS = 10 * 60_000;

/** Rule 3: the greatest age of what the gate relies on. */
const READING_MS = 2 * 60_000;

/** What the rules use beside the rows. */
export interface Standard {
  readonly facts: StoreFacts;
  readonly bank: Bank;
  readonly book: Book;
  readonly sandbox: boolean;
  /** True if the service keeps within the ledger's envelope. */
  readonly isWithinEnvelope: boolean;
  /** Returns the business clock at an instant. */
  readonly businessMsAt: (atMs: number) => number;
}

/**
 * Checks, as bytes leave, what must have been true when the gate let the send through.
 *
 * @param restoredMs when the store was restored from a backup; 0 if never
 */
export function checkProtocol(standard: Standard, sent: SendRow, restoredMs: number): void {
  const { facts } = standard;
  const all = facts.sends(sent.subject);
  const reckoning = new Reckoning(all, facts.lookups(sent.subject), standard.sandbox);
  const earlier = all.filter((send) => isBefore(send, sent));
  checkEarlierKeys(reckoning, earlier, sent);
  checkUsedUp(reckoning, earlier, sent);
  checkSameKey(reckoning, earlier, sent);
  checkBytes(reckoning, earlier, sent);
  checkLookups(standard, sent.subject);
  if (standard.isWithinEnvelope) checkExplained(standard, all, sent);
  checkApproved(standard, sent);
  checkOwed(standard, sent);
  checkVendor(standard, sent);
  checkReinitiated(standard, earlier, sent, restoredMs);
}

function isBefore(send: SendRow, { sendId, seq, sendNo }: SendRow): boolean {
  return send.sendId !== sendId && (send.seq < seq || (send.seq === seq && send.sendNo < sendNo));
}

/** Rule 8: nothing follows a send of another key that may still take effect. */
function checkEarlierKeys(
  reckoning: Reckoning,
  earlier: readonly SendRow[],
  { subject, seq, openedMs }: SendRow,
): void {
  const open = earlier.find((send) => send.seq < seq && !reckoning.isSettled(send, openedMs));
  if (open === undefined) return;
  const what = `key ${seq} of ${subject} was sent, and a send under key ${open.seq} that heard ${heardOf(open)} had no last word`;
  throw new Violation("next-key-after-the-last-word", what, subject);
}

/** Rule 8: the next key needs a reason, and a used-up key is not sent again. */
function checkUsedUp(
  reckoning: Reckoning,
  earlier: readonly SendRow[],
  { subject, seq, openedMs }: SendRow,
): void {
  const previous = earlier.filter((send) => send.seq === seq - 1);
  const isUsedUp =
    previous.length === 0 ||
    previous.some(({ adoptedIds }) => adoptedIds.length > 0) ||
    previous.some(({ result }) => ["unconfirmed", "rejected", "applied"].includes(result)) ||
    previous.some((send) => send.result === "conflict" && reckoning.isBound(send)) ||
    previous.filter(isTokenRefusal).length >= TOKEN_REFUSALS;
  if (!isUsedUp) {
    const heardBefore = previous.map(heardOf).join(", ");
    const what = `key ${seq} of ${subject} follows one that heard only ${heardBefore}`;
    throw new Violation("next-key-needs-a-reason", what, subject);
  }
  const dead = earlier.find(
    (send) =>
      send.seq === seq &&
      (heard(send, ["unconfirmed", "rejected", "applied"], openedMs) ||
        (heard(send, ["conflict"], openedMs) && reckoning.isBound(send))),
  );
  if (dead === undefined) return;
  const what = `key ${seq} of ${subject} is asked again, and it has heard ${heardOf(dead)} for good`;
  throw new Violation("used-up-keys-are-left", what, subject);
}

/** Rule 4: a key that may be forgotten or is in conflict is sent again only after a lookup. */
function checkSameKey(
  reckoning: Reckoning,
  earlier: readonly SendRow[],
  { subject, seq, openedMs }: SendRow,
): void {
  const open = earlier.filter((send) => send.seq === seq && !reckoning.isSettled(send, openedMs));
  const old = open.find((send) => openedMs - send.openedMs > SAME_KEY_MS);
  if (old !== undefined) {
    const minutes = Math.round((openedMs - old.openedMs) / 60_000);
    const what = `${subject} is sent again under a key of ${minutes} minutes, and no look came that late`;
    throw new Violation("forgotten-keys", what, subject);
  }
  if (!open.some((send) => heard(send, ["conflict"], openedMs))) return;
  const what = `${subject} is sent again under key ${seq}, which was in conflict, and nobody has looked`;
  throw new Violation("look-after-a-conflict", what, subject);
}

/** Rule 7: other bytes are sent only if the service certainly holds none. */
function checkBytes(
  reckoning: Reckoning,
  earlier: readonly SendRow[],
  { subject, seq, body, path, openedMs }: SendRow,
): void {
  const other = earlier.find(
    (send) =>
      send.seq === seq &&
      (send.body !== body || send.path !== path) &&
      !reckoning.isSettled(send, openedMs),
  );
  if (other === undefined) return;
  const what = `other bytes leave for ${subject} under key ${seq}, and a send of the first ones heard ${heardOf(other)}`;
  throw new Violation("bytes-change-by-rule-7", what, subject);
}

/** Rule 6: a look shows all of a bill's payments, in any state and of any age. */
export function checkLookups({ facts, book }: Standard, payableId: string): void {
  for (const { begunMs, isWhole, shownIds } of facts.lookups(payableId)) {
    const shown = new Set(shownIds);
    const hidden = book
      .paymentsOf(payableId)
      .find(({ id, shownMs }) => isWhole && shownMs < begunMs && !shown.has(id));
    if (hidden === undefined) continue;
    const what = `a look at ${payableId} doesn't have ${hidden.id}, which the service showed`;
    throw new Violation("lookups-show-all", what, payableId);
  }
}

/** Rule 9: nothing leaves while the bill shows a payment of ours that nothing explains. */
function checkExplained(
  { book }: Standard,
  all: readonly SendRow[],
  { subject, openedMs, sendId }: SendRow,
): void {
  const explained = new Set(all.flatMap((send) => [...send.madeIds, ...send.adoptedIds]));
  const keys = new Set(all.filter((send) => send.sendId !== sendId).map(({ key }) => key));
  const unexplained = book
    .paymentsOf(subject)
    .find(
      (payment) =>
        stands(payment) &&
        payment.key !== null &&
        keys.has(payment.key) &&
        payment.shownMs < openedMs - READING_MS &&
        !explained.has(payment.id),
    );
  if (unexplained === undefined) return;
  const what = `${subject} is sent, and it shows ${unexplained.id}, which nobody has explained`;
  throw new Violation("explained-before-sent", what, subject);
}

/** Rule 3: exactly this line is approved by its quorum, and none of the approvals has expired. */
function checkApproved(
  { facts, book, businessMsAt }: Standard,
  { subject, approvedHash, openedMs }: SendRow,
): void {
  if (!book.payables.has(subject)) return;
  const businessMs = businessMsAt(openedMs - CLOCK_LAG_MS);
  const { valid, needed } = facts.approvalsAt(subject, approvedHash, businessMs);
  if (valid >= needed) return;
  const what = `${subject} was let through with ${valid} approvals of ${needed} that have not expired`;
  throw new Violation("approved-at-the-gate", what, subject);
}

/** Rule 3: no more is sent than the service showed to be owed when the gate read it. */
function checkOwed({ book }: Standard, { subject, key, body, openedMs }: SendRow): void {
  const amountCents = Number(/"amountCents":(\d+)/.exec(body)?.[1] ?? 0);
  if (!book.payables.has(subject)) return;
  const readMs = openedMs - READING_MS;
  const standingCents = book
    .paymentsOf(subject)
    .filter((payment) => stands(payment) && payment.key !== key && payment.shownMs < readMs)
    .reduce((cents, payment) => cents + payment.amountCents, 0);
  const owedCents = book.mostCents(subject, readMs) - standingCents;
  if (amountCents <= owedCents) return;
  const what = `${amountCents} cents are sent for ${subject}, of which ${owedCents} are owed`;
  throw new Violation("owed-at-the-gate", what, subject);
}

/** Rule 3: the vendor is paid to the bank account that was approved. */
function checkVendor(
  { facts, book }: Standard,
  { subject, approvedHash, openedMs, owner }: SendRow,
): void {
  const contact = book.contacts.get(book.payables.get(subject)?.contactId ?? "");
  const approvedLast4 = facts.approvedLast4(subject, approvedHash);
  if (contact === undefined || approvedLast4 === undefined) return;
  if (contact.last4 !== approvedLast4 && contact.movedMs < openedMs - READING_MS) {
    const what = `${subject} is sent, approved for account ${approvedLast4}, and its vendor has ${contact.last4}`;
    throw new Violation("account-as-approved", what, subject);
  }
  const planned = facts.approvedRecord(subject, approvedHash, owner);
  const updatedAt = contact.updatedMs === null ? null : new Date(contact.updatedMs).toISOString();
  const isSame = planned !== undefined && recordKey(planned.updatedAt) === recordKey(updatedAt);
  if (isSame || contact.editedMs >= openedMs - READING_MS) return;
  if (facts.isConfirmed(contact.id, recordKey(updatedAt))) return;
  const what = `${subject} is sent, and nobody has said that its account is still right, though its vendor's record was changed`;
  throw new Violation("record-as-approved", what, subject);
}

/**
 * Nacha's rules: under one approval, only R01 and R09 are paid again, and that at most twice. A
 * restored store can't know what it has lost; an approval after such a return is a new one.
 */
function checkReinitiated(
  { book, facts, sandbox, businessMsAt }: Standard,
  earlier: readonly SendRow[],
  sent: SendRow,
  restoredMs: number,
): void {
  const { subject, key, approvedHash } = sent;
  const approvedMs = facts.approvedMs(subject, approvedHash) + (sandbox ? 0 : MOST_SKEW_MS);
  const sinceMs = restoredMs === 0 ? 0 : businessMsAt(Math.max(restoredMs, approvedMs));
  const same = underOneApproval(earlier, sent).filter((send) => send.key !== key);
  const keys = new Set(same.map((send) => send.key));
  const back = book.payments.filter(
    (payment) =>
      payment.key !== null &&
      keys.has(payment.key) &&
      payment.updatedMs > sinceMs &&
      (payment.status === "failed" || payment.status === "returned"),
  );
  const final = back.find(({ failureReason }) => !/^R0[19]\b/.test(failureReason ?? ""));
  if (final !== undefined) {
    const what = `${subject} is paid again under the approval of a payment that came back as “${final.failureReason}”`;
    throw new Violation("reinitiated-by-nacha", what, subject);
  }
  const times = new Set(back.map((payment) => payment.key)).size;
  if (times <= REINITIATIONS) return;
  const what = `${subject} is paid for the ${times + 1}. time under one approval`;
  throw new Violation("reinitiated-by-nacha", what, subject);
}

const REINITIATIONS = 2;

/** How far a process's clock may be from the world's. */
const MOST_SKEW_MS = 600_000;

/**
 * Returns the sends under the same approval: a run that asks for the line again has a new one,
 * which later retries use.
 */
function underOneApproval(earlier: readonly SendRow[], sent: SendRow): readonly SendRow[] {
  const isRun = ({ owner }: SendRow): boolean => owner.startsWith("pay-run/");
  const run = isRun(sent) ? sent : earlier.findLast(isRun);
  const from = earlier.findIndex(({ owner }) => owner === run?.owner);
  const own = from < 0 ? [] : earlier.slice(from);
  return own.filter(({ approvedHash }) => approvedHash === sent.approvedHash);
}

/** How much earlier a process may have read its clock, or how much less precisely. */
const CLOCK_LAG_MS = 5_000;

/**
 * Rule 5: the recorded result of a send is the answer to its own request.
 *
 * @param sinceMs a restored store may have lost what left earlier
 */
export function checkAnswers({ bank, facts }: Standard, subject: string, sinceMs: number): void {
  const sends = facts.sends(subject).filter(({ openedMs }) => openedMs > sinceMs);
  const asked = new Map<string, SeenRequest>();
  for (const request of bank.requests) {
    // Of several sends under its key, it is the one that was let through last.
    const own = sends.findLast(
      ({ key, openedMs }) => key === request.key && openedMs <= request.leftMs,
    );
    if (own !== undefined) asked.set(own.sendId, request);
  }
  for (const { sendId, result, status, leaveByMs } of sends) {
    const request = asked.get(sendId);
    const isInTime = request !== undefined && request.leftMs <= leaveByMs;
    if (result === "not-sent" && isInTime) {
      const what = `request ${request.number} has left, and its send says that it never did`;
      throw new Violation("not-sent-is-never-sent", what, subject);
    }
    if (status === null || request?.status === status) continue;
    const what = `a send of ${subject} was written as ${result} ${status}, and its own request heard ${request?.status ?? "nothing"}`;
    throw new Violation("results-are-own-answers", what, subject);
  }
}

/** Rule 11: a bill stays claimed while a send of it is open. */
export function checkClaims({ facts, sandbox }: Standard, nowMs: number): void {
  for (const subject of facts.openAndFree()) {
    const sends = facts.sends(subject);
    const reckoning = new Reckoning(sends, facts.lookups(subject), sandbox);
    const open = sends.find((send) => !reckoning.isSettled(send, nowMs));
    if (open === undefined) continue;
    const what = `nobody claims ${subject}, and a send of it heard ${heardOf(open)}`;
    throw new Violation("claim-kept", what, subject);
  }
}

function isTokenRefusal({ status }: SendRow): boolean {
  return status === 401 || status === 403;
}

function heardOf({ result, status }: SendRow): string {
  return `${result} ${status ?? ""}`.trim();
}
