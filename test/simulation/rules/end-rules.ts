import { type Book, stands } from "../service/book.ts";
import type { LineFact, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** States of a line in which a person or the engine must soon act. */
const AT_WORK: readonly string[] = ["planned", "paying", "unknown"];

/** How long a line may back off before a notice is due, including differences of clocks. */
export const UNTOLD_MS = 65 * 60_000;

/**
 * Checks, long after everything has healed, that nothing is at work without a reason that people
 * know.
 */
export function checkNothingStuck(facts: StoreFacts, nowMs: number): void {
  const ended = facts.endedRuns();
  for (const { runId, payableId, state, reason, backOffSinceMs } of facts.lines()) {
    if (ended.has(runId) || !AT_WORK.includes(state)) continue;
    if (reason !== null && facts.isTold(payableId)) continue;
    if (state === "planned" && facts.isAskedForMoney(runId)) continue;
    if (isUntold({ backOffSinceMs }, nowMs)) continue;
    const why = reason === null ? "without a reason" : `because “${reason}”`;
    throw new Violation(
      "nothing-goes-on-for-ever",
      `${payableId} of ${runId} is still ${state} ${why}, hours after everything has healed`,
      payableId,
    );
  }
}

/** True if a line began to back off so recently that its notice is not due yet. */
function isUntold({ backOffSinceMs }: Pick<LineFact, "backOffSinceMs">, nowMs: number): boolean {
  return backOffSinceMs !== null && nowMs - backOffSinceMs < UNTOLD_MS;
}

/** True if some line's notice is not due yet: the seed ends only after it. */
export function someRestUntold(facts: StoreFacts, nowMs: number): boolean {
  return facts.lines().some((line) => AT_WORK.includes(line.state) && isUntold(line, nowMs));
}

/** States of a line that has ended, or that only waits for the bank. */
const AT_REST: readonly string[] = [
  ...["skipped", "settled", "cancelled", "refunded", "returned", "paid-elsewhere", "given-up"],
  ...["scheduled", "held", "processing"],
];

/** Checks at the end that every line has ended, or waits for a person who was notified why. */
export function checkEverybodyKnows(facts: StoreFacts, businessMs: number): void {
  for (const { payableId, contactId } of facts.unaskedVendors()) {
    const what = `${payableId} waits for a word about ${contactId}, and nobody was asked for it`;
    throw new Violation("everybody-knows", what, payableId);
  }
  const ended = facts.endedRuns();
  for (const { runId, payableId, state, reason } of facts.lines()) {
    if (AT_REST.includes(state)) continue;
    const isOver = ended.has(runId) && state !== "parked" && state !== "retrying";
    if (state === "on-hold") {
      const [untold] = isOver ? [] : facts.untoldHolds(payableId, runId, businessMs);
      if (untold === undefined) continue;
      const what = `${payableId} of ${runId} is on hold in the end, and nobody was told why: ${untold}`;
      throw new Violation("everybody-knows", what, payableId);
    }
    if (isOver || facts.isTold(payableId) || facts.isRunTold(runId, state)) continue;
    const why = reason === null ? "without a reason" : `because “${reason}”`;
    throw new Violation(
      "everybody-knows",
      `${payableId} of ${runId} is ${state} ${why} in the end, and nobody was told`,
      payableId,
    );
  }
}

/** States of lines in which something is still to come, with or without money. */
const GOES_ON: readonly string[] = [
  ...["awaiting-approval", "on-hold", "paying", "unknown"],
  ...["scheduled", "held", "processing"],
];

/** True if nothing of a run goes on except bills that lack money, and people know it. */
export function waitsForMoney(facts: StoreFacts, runId: string): boolean {
  const states = facts.lines().flatMap((line) => (line.runId === runId ? [line.state] : []));
  const goesOn = states.some((state) => GOES_ON.includes(state));
  return !goesOn && states.includes("planned") && facts.isAskedForMoney(runId);
}

/** What excuses a difference between the store and the bank. */
interface Excuses {
  /** True if the store was restored from a backup and may not know all payments. */
  readonly hasForgotten: boolean;
  /** Business clock: returns since then need not have been seen yet. */
  readonly unseenSinceMs: number;
}

/** Checks at the end that the store and the bank agree about each bill. */
export function checkBooksAgree(
  facts: StoreFacts,
  book: Book,
  { hasForgotten, unseenSinceMs }: Excuses,
): void {
  const settled = new Map<string, number>();
  for (const { payableId, state, amountCents } of facts.lines()) {
    if (state !== "settled") continue;
    settled.set(payableId, (settled.get(payableId) ?? 0) + amountCents);
  }
  for (const payableId of book.payables.keys()) {
    const ours = book.paymentsOf(payableId).filter(({ key }) => key !== null);
    // An external payment on exactly our terms, while an answer is missing, counts as its effect.
    const paidCents = sum(
      book
        .paymentsOf(payableId)
        .filter(
          ({ status, updatedMs }) =>
            status === "completed" || (status === "returned" && updatedMs > unseenSinceMs),
        ),
    );
    const standingCents = sum(ours.filter(stands));
    const settledCents = settled.get(payableId) ?? 0;
    if (settledCents > paidCents) {
      const what = `${payableId} is settled here with ${settledCents} cents, and at the bank with ${paidCents}`;
      throw new Violation("settled-as-at-the-bank", what, payableId);
    }
    if (hasForgotten) continue;
    const isPart = ours.some((payment) => !stands(payment));
    const isOver = (state: string): boolean => isUnpaid(state) || (state === "given-up" && !isPart);
    if (standingCents > 0 && facts.states(payableId).every(isOver)) {
      const what = `${standingCents} cents stand at the bank for ${payableId}, and here it is ${facts.states(payableId).join(", ")}`;
      throw new Violation("settled-as-at-the-bank", what, payableId);
    }
  }
}

/**
 * True for states that say that no money has gone, or that none is known of. `given-up` is not one
 * of them: a person may give up the rest of a bill of which a part came back.
 */
function isUnpaid(state: string): boolean {
  return ["skipped", "planned", "awaiting-approval", "cancelled"].includes(state);
}

function sum(payments: readonly { readonly amountCents: number }[]): number {
  return payments.reduce((cents, { amountCents }) => cents + amountCents, 0);
}
