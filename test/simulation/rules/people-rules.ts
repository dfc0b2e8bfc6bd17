import type { Said, SaidByPeople } from "../company/said.ts";
import type { SeenRequest } from "../service/bank.ts";
import type { Book } from "../service/book.ts";
import { payableOf } from "./key-rules.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/**
 * The gate lets nothing pass a hold, a drop, a rejection or a cancelled run; what it had let
 * through before the person spoke may still leave.
 */
export function checkSaid(
  said: SaidByPeople,
  book: Book,
  request: SeenRequest,
  { openedMs, isOnlyRun }: { readonly openedMs: number; readonly isOnlyRun: boolean },
): void {
  const payableId = payableOf(request);
  if (payableId === undefined) return;
  const contactId = book.payables.get(payableId)?.contactId;
  const stands = said.all.find(
    (each) =>
      each.atMs < openedMs &&
      openedMs < each.untilMs &&
      isAbout(each, payableId, contactId, isOnlyRun),
  );
  if (stands === undefined) return;
  const seconds = ((openedMs - stands.atMs) / 1_000).toFixed(1);
  const what = `request ${request.number} was let through for ${payableId}, ${seconds} s after a ${stands.kind} was acknowledged`;
  throw new Violation("what-people-say-holds", what, payableId);
}

/** Whatever happens, the store and the trail agree: only a forger makes them differ. */
export function checkTrailAgrees(facts: StoreFacts): void {
  const alarm = facts.trailAlarm();
  if (alarm !== undefined) throw new Violation("store-agrees-with-trail", alarm);
}

/** What is said about one run binds no other, so it is checked only if there is no other. */
function isAbout(
  said: Said,
  payableId: string,
  contactId: string | undefined,
  isOnlyRun: boolean,
): boolean {
  switch (said.kind) {
    case "hold":
      if (said.runId !== undefined) return isOnlyRun;
      if (said.contactId !== undefined) return said.contactId === contactId;
      return said.payableId === undefined || said.payableId === payableId;
    case "drop":
      return isOnlyRun && said.payableId === payableId;
    case "cancel-run":
    case "reject":
      return isOnlyRun;
  }
}
