import { createHash } from "node:crypto";
import type { SeenRequest } from "../service/bank.ts";
import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

const CLOSED: readonly string[] = ["refused", "rejected", "not-sent"];

/** Codes of 409 that mean that nothing was done (API specification). */
const REFUSALS: readonly string[] = [
  "payment_in_progress",
  "insufficient_balance",
  "setup_required",
  "approval_required",
  "payments_locked",
  "setup_incomplete",
  "feature_unavailable",
  "contact_not_payable",
  "payment_not_cancellable",
];

/**
 * Checks the ledger's rows at the moment at which bytes leave.
 *
 * @returns the send whose bytes they are; undefined for a request without a key
 */
export function checkLedger(
  facts: StoreFacts,
  businessId: string,
  request: SeenRequest,
): SendRow | undefined {
  const { key, number, leftMs } = request;
  if (key === null) return undefined;
  const own = facts.sendsOfKey(key);
  const last = own.at(-1);
  if (last === undefined) {
    throw new Violation("written-before-sent", `request ${number} left, and no send has its key`);
  }
  const { subject } = last;
  const all = facts.sends(subject);
  const open = own.filter(({ result, leaveByMs }) => result === "pending" && leaveByMs >= leftMs);
  const asSent = open.filter(({ body, path }) => body === request.body && path === request.path);
  const [sent] = asSent;
  if (sent === undefined) {
    const what = `request ${number} left without a send that may still leave with these bytes`;
    throw new Violation("leaves-in-time", what, subject);
  }
  const mayLeave = all.filter(
    ({ result, leaveByMs }) => result === "pending" && leaveByMs >= leftMs,
  );
  if (mayLeave.length > 1) {
    const what = `${mayLeave.length} sends of ${subject} may leave at once`;
    throw new Violation("one-send-leaves", what, subject);
  }
  checkClosed(all);
  checkKey(businessId, sent, key);
  return sent;
}

/** Errors, conflicts and unknown codes close no send (ledger, 5). */
function checkClosed(all: readonly SendRow[]): void {
  const wrong = all.find(
    ({ result, status, code }) =>
      CLOSED.includes(result) &&
      status !== null &&
      (status >= 500 || (status === 409 && !REFUSALS.includes(code ?? ""))),
  );
  if (wrong === undefined) return;
  const { subject, result, status, code } = wrong;
  const what = `a send of ${subject} was answered ${status} ${code ?? ""} and counts as ${result}`;
  throw new Violation("only-refusals-close", what, subject);
}

/** The same attempt has the same key, whatever was lost in between. */
function checkKey(businessId: string, { subject, seq }: SendRow, key: string): void {
  const text = JSON.stringify(["pr1_", businessId, subject, seq]);
  const expected = `pr1_${createHash("sha256").update(text).digest("hex").slice(0, 48)}`;
  if (key === expected) return;
  throw new Violation("key-from-facts", `the key of ${subject}, ${seq} is another one`, subject);
}

/** A bill stays claimed until everything that was sent for it is over. */
export function checkAccepted(facts: StoreFacts, { number }: SeenRequest, payableId: string): void {
  if (facts.isClaimed(payableId)) return;
  const what = `request ${number} is carried out, and nobody claims ${payableId}`;
  throw new Violation("claim-kept", what, payableId);
}

/** Checks at the end the rows of sends that nothing followed. */
export function checkRows(facts: StoreFacts, payableIds: Iterable<string>): void {
  const [subject] = facts.lateAnswers();
  if (subject !== undefined) {
    const what = `a send of ${subject} had its result already when its sender wrote it`;
    throw new Violation("results-by-their-sender", what, subject);
  }
  for (const payableId of payableIds) checkClosed(facts.sends(payableId));
}
