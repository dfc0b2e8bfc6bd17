import type { Transaction } from "kysely";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import type { Tables } from "../store/schema/tables.ts";
import type { Now, Step, SubjectFacts, Wish } from "./facts.ts";
import type { GateCaller, GateRequest, GateStep } from "./gate.ts";
import { next } from "./next.ts";
import { loadSubjects } from "./rows.ts";

/** What the gate judges subjects by, with the first judgment of each. */
interface Judged {
  readonly steps: ReadonlyMap<string, Step>;
  readonly facts: ReadonlyMap<string, SubjectFacts>;
  readonly now: Now;
  /** True if the service's clock is known. */
  readonly heard: boolean;
  /** How long ago the caller has read its clocks. */
  readonly agoMs: number;
  readonly businessMs: number;
  readonly stepOf: (request: GateRequest, wish: Wish | null) => Step;
}

/**
 * Judges the next step of each subject, by the rows as they are now; writes nothing.
 *
 * @param whenInDoubt whether what a restored store may have forgotten, on another day, is left to a
 *   person, though nothing is wanted now
 */
export async function judge(
  trx: Transaction<Tables>,
  { businessId, operation, clock }: GateCaller,
  requests: readonly GateRequest[],
  whenInDoubt: "go-on" | "person" = "go-on",
): Promise<Judged> {
  const atMs = await databaseNowMs(trx);
  const heard = clock.serviceHeard;
  // Judge by the earliest time that it may be at the service; record the latest.
  const now: Now = { atMs, serviceMs: heard ? clock.serviceMs : null, sandbox: clock.sandbox };
  // The process may have been frozen since it read its clocks.
  const agoMs = Math.max(0, Date.now() - clock.realMs);
  // Only a sandbox has a business clock of its own; elsewhere it is real time, as in the database.
  const businessMs = clock.sandbox ? Math.floor(clock.afterRealMs(agoMs)) : atMs;
  const facts = await loadSubjects(
    trx,
    businessId,
    requests.map(({ subject }) => subject),
  );
  const stepOf = ({ subject, reading }: GateRequest, wish: Wish | null): Step =>
    next(operation, factsOf(facts, subject), wish, reading, now);
  const firstStep = (request: GateRequest): Step => {
    const step = stepOf(request, request.wish);
    const { subject, approved } = request;
    if (approved === undefined || factsOf(facts, subject).restored === null) return step;
    // Rule 10: a payment that a restored store forgot is still Payrun's own, even if nothing is
    // wanted now.
    const forgotten = stepOf(request, approved);
    if (forgotten.kind === "person" && whenInDoubt === "person") return forgotten;
    const isOurs = forgotten.kind === "adopt" || isWaitAfterLoss(forgotten);
    return step.kind === "idle" && isOurs ? forgotten : step;
  };
  const steps = new Map(requests.map((each) => [each.subject, firstStep(each)]));
  return { steps, facts, now, heard, agoMs, businessMs, stepOf };
}

/**
 * Says what is left to do about subjects of which nothing is wanted, and writes nothing: `idle`, or
 * what their requests have made, if no request may still take effect and a restored store has
 * forgotten none.
 */
export async function standOf(
  trx: Transaction<Tables>,
  caller: GateCaller,
  requests: readonly (GateRequest & { readonly wish: null })[],
): Promise<ReadonlyMap<string, GateStep>> {
  const { steps } = await judge(trx, caller, requests, "person");
  return new Map(
    [...steps].flatMap(([subject, step]) =>
      step.kind === "send" ? [] : [[subject, step] as const],
    ),
  );
}

function isWaitAfterLoss(step: Step): boolean {
  return step.kind === "read" || (step.kind === "wait" && step.reason === "restored");
}

/** Returns the facts of a subject that was loaded. */
export function factsOf(facts: ReadonlyMap<string, SubjectFacts>, subject: string): SubjectFacts {
  const found = facts.get(subject);
  if (found === undefined) throw new Error(`the ledger was not read for ${subject}`);
  return found;
}
