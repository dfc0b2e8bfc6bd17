import { createHash } from "node:crypto";
import type { SeenRequest } from "../service/bank.ts";
import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** Results after which a key may be left for the next one (ledger, 8). */
const USED_UP: readonly string[] = ["unconfirmed", "rejected", "conflict", "applied"];

const CLOSED: readonly string[] = ["refused", "rejected", "not-sent"];

/** Codes of 409 that say that nothing was done (API specification, section 7). */
const STATE_REFUSALS: readonly string[] = [
  "payment_in_progress",
  "insufficient_balance",
  "setup_required",
  "approval_required",
  "payments_locked",
  "setup_incomplete",
  "feature_unavailable",
  "contact_not_payable",
];

/** So many refusals of the token may be an answer that is stored and replayed. */
const TOKEN_REFUSALS = 3;

const REMEMBERED_MS = 15 * 60_000;

/** What the ledger's rows must say at the moment at which bytes leave. */
export function checkLedger(facts: StoreFacts, businessId: string, request: SeenRequest): void {
  const { key, number, leftMs } = request;
  if (key === null) return;
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
  checkUsedUp(all, sent);
  checkRemembered(facts, own, sent, leftMs);
}

/** An error closes no send, nor does a conflict or a code that nobody knows (ledger, 5). */
function checkClosed(all: readonly SendRow[]): void {
  const wrong = all.find(
    ({ result, status, code }) =>
      CLOSED.includes(result) &&
      status !== null &&
      (status >= 500 || (status === 409 && !STATE_REFUSALS.includes(code ?? ""))),
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

/** Silence is never a reason to take the next key, nor is an error. */
function checkUsedUp(all: readonly SendRow[], { subject, seq }: SendRow): void {
  if (seq === 1) return;
  const before = all.filter((send) => send.seq === seq - 1);
  const refused = before.filter(({ status }) => status === 401 || status === 403);
  const isUsedUp =
    before.length === 0 ||
    before.some(({ result }) => USED_UP.includes(result)) ||
    refused.length >= TOKEN_REFUSALS;
  if (isUsedUp || before.some(({ isAdopted }) => isAdopted)) return;
  const heard = before.map(({ result, status }) => `${result} ${status ?? ""}`.trim());
  const what = `key ${seq} of ${subject} follows one that heard only ${heard.join(", ")}`;
  throw new Violation("next-key-needs-a-reason", what, subject);
}

/** What has left was sent, whatever its sender heard; and its bill stays claimed meanwhile. */
export function checkAccepted(
  facts: StoreFacts,
  { key, leftMs, number }: SeenRequest,
  payableId: string,
): void {
  const sends = key === null ? [] : facts.sendsOfKey(key);
  // Of several under its key it is the one that was let through last.
  const own = sends.findLast(({ openedMs }) => openedMs <= leftMs);
  if (own?.result === "not-sent") {
    const what = `request ${number} is carried out, and its send says that it never left`;
    throw new Violation("not-sent-is-never-sent", what, payableId);
  }
  if (facts.isClaimed(payableId)) return;
  const what = `request ${number} is carried out, and nobody claims ${payableId}`;
  throw new Violation("claim-kept", what, payableId);
}

/** What the rows say in the end, of sends that nothing followed. */
export function checkRows(facts: StoreFacts, payableIds: Iterable<string>): void {
  for (const payableId of payableIds) checkClosed(facts.sends(payableId));
}

/** A key that may be forgotten is asked again only after a look. */
function checkRemembered(
  facts: StoreFacts,
  own: readonly SendRow[],
  sent: SendRow,
  leftMs: number,
): void {
  const first = own.find(({ sendId, result }) => sendId !== sent.sendId && result !== "not-sent");
  if (first === undefined || leftMs - first.openedMs < REMEMBERED_MS) return;
  if (facts.lastLookMs(sent.subject) > first.openedMs) return;
  const what = `${sent.subject} is sent again under a key of ${Math.round((leftMs - first.openedMs) / 60_000)} minutes, and nobody has looked`;
  throw new Violation("forgotten-keys", what, sent.subject);
}
