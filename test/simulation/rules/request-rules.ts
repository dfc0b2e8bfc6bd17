import { addBankingDays } from "../../../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import type { SeenRequest } from "../service/bank.ts";
import type { Book } from "../service/book.ts";
import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

interface Sent {
  readonly facts: StoreFacts;
  readonly book: Book;
  /** The one account of the company. */
  readonly bankAccountId: string;
  /** Business-clock instant at which the bytes leave. */
  readonly businessMs: number;
  /** How much another process's business clock may differ. */
  readonly skewMs: number;
}

const FIELDS: readonly string[] = [
  ...["payableId", "amountCents", "scheduledAt", "clearing"],
  ...["paymentRail", "fundingSource", "bankAccountId", "achAuthorizationAccepted"],
];

/**
 * Whatever the service says, only the approved amount is sent, for the approved bill, from the
 * company's own account, on a day that the line may have.
 */
export function checkRequest(sent: Sent, request: SeenRequest, send: SendRow): void {
  const wrong = wrongIn(sent, request, send);
  if (wrong === null) return;
  const what = `request ${request.number} for ${send.subject} ${wrong}`;
  throw new Violation("sent-as-approved", what, send.subject);
}

function wrongIn(sent: Sent, { method, path, body }: SeenRequest, send: SendRow): string | null {
  if (method !== "POST") return `is a ${method}`;
  const fields = JSON.parse(body === "" ? "{}" : body) as Readonly<Record<string, unknown>>;
  const { facts, bankAccountId } = sent;
  if (send.subject.startsWith("cancel/")) return wrongInCancel(sent, path, send);
  const account = fields["bankAccountId"];
  if (account !== undefined && account !== bankAccountId)
    return `debits ${JSON.stringify(account)}`;
  if (path === "/v1/balance/deposits") {
    const cents = facts.depositCents(send.subject, send.approvedHash);
    return cents === fields["amountCents"] ? null : "is no deposit that was asked for";
  }
  if (path !== "/v1/payments") return `goes to ${path}`;
  const odd = Object.entries(fields).find(
    ([name, value]) => !FIELDS.includes(name) || String(value).length > 200,
  );
  if (odd !== undefined) return `has a field ${odd[0]} that no approval knows`;
  const [line] = facts.plannedAs(send.subject, send.approvedHash);
  if (fields["payableId"] !== send.subject || line === undefined) return "pays another bill";
  if (fields["amountCents"] !== line.amountCents) return "pays another amount";
  const days = [...facts.daysOf(send.subject, send.approvedHash), ...daysNow(sent)];
  const day = String(fields["scheduledAt"]);
  return days.includes(day) ? null : `runs on ${day}, not on ${[...new Set(days)].join(" or ")}`;
}

/** A cancel is for a payment of the bill that it names, if the company knows both. */
function wrongInCancel({ facts, book }: Sent, path: string, send: SendRow): string | null {
  const paymentId = send.subject.slice("cancel/".length);
  if (path !== `/v1/payments/${paymentId}/cancel`) return `goes to ${path}`;
  const payableId = facts.cancelledBill(send.owner, paymentId);
  const made = book.payments.find(({ id }) => id === paymentId);
  if (payableId === null || made === undefined || made.payableId === payableId) return null;
  return `cancels a payment of ${made.payableId} as one of ${payableId}`;
}

/** The earliest banking day that a request may name, by clocks that differ. */
function daysNow({ businessMs, skewMs }: Sent): string[] {
  return [-1, -0.5, 0, 0.5, 1].map((skews) =>
    addBankingDays(newYorkDate(businessMs + skews * skewMs), 1),
  );
}

/** Requests are made of what is approved: the gate never has to stop one. */
export function checkGateUnneeded(facts: StoreFacts): void {
  const [what] = facts.unapprovedRequests();
  if (what !== undefined) throw new Violation("asked-as-approved", what);
}

/** An answer that says that something else was paid than was sent never passes in silence. */
export function checkAnswersAreCompared(facts: StoreFacts): void {
  const [payableId] = facts.wrongAnswersUntold();
  if (payableId === undefined) return;
  const what = `an answer names another amount for ${payableId} than was sent, and nobody was told`;
  throw new Violation("wrong-answers-are-told", what, payableId);
}
