import type { Transaction } from "kysely";
import type { ClockReading } from "../../business/clock.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { principalOf } from "../../contracts/principal.ts";
import { type EndedByPerson, holdOn, isEndedByPerson } from "../../domain/holds.ts";
import { isReinitiable } from "../../domain/payments/return-codes.ts";
import { newDateOf } from "../../domain/planning/send-date.ts";
import { approvedLines } from "../../store/approvals/line-approvals.ts";
import { releaseWithheld } from "../../store/cancellations/cancellation-items.ts";
import { getCancellation } from "../../store/cancellations/cancellations.ts";
import { activeHolds, getHold, type Hold, releaseHold } from "../../store/holds/holds.ts";
import { getIncident, type Incident, isHoldOf } from "../../store/incidents/incidents.ts";
import type { Db, Tables } from "../../store/index.ts";
import { openLinesOf, type OpenLine } from "../../store/lines/open-lines.ts";
import { waitingForIncident } from "../../store/lines/retry-cases.ts";
import { currentOf, linesOfPayable } from "../../store/lines/payable-history.ts";
import { getRun, type Run } from "../../store/runs/runs.ts";
import type { ActionContext } from "../context.ts";
import { LINE } from "../../contracts/line-states.ts";

/**
 * Returns a business's holds in force that a person has set, including those of cancels that they
 * requested.
 */
export async function holdsBy(
  db: Db,
  { businessId }: BusinessProfile,
  { author, businessMs }: { readonly author: string; readonly businessMs: number },
): Promise<Hold[]> {
  const wanted = principalOf(author);
  const mine: Hold[] = [];
  const askedBy = new Map<string, string | undefined>();
  for (const hold of await activeHolds(db, businessId, businessMs)) {
    if (hold.authorKind === "principal") {
      if (principalOf(hold.author) === wanted) mine.push(hold);
      continue;
    }
    if (!askedBy.has(hold.author)) {
      const cancellation = await getCancellation(db, hold.author);
      const isPersons =
        cancellation?.policy.kind === "cancel-scheduled" &&
        cancellation.requestedByKind === "principal";
      askedBy.set(hold.author, isPersons ? cancellation.requestedBy : undefined);
    }
    if (principalOf(askedBy.get(hold.author) ?? "") === wanted) mine.push(hold);
  }
  return mine;
}

/**
 * Returns how a person has ended the bill that their hold is on: without the hold, the next run
 * would pay it. Undefined for any other hold.
 */
export async function endedByPerson(
  db: Db,
  { businessId, scope, value, authorKind }: Hold,
): Promise<EndedByPerson | undefined> {
  if (scope !== "payable" || authorKind === "system") return undefined;
  const state = currentOf(await linesOfPayable(db, businessId, value))?.state;
  return isEndedByPerson(state) ? state : undefined;
}

/**
 * Lifts those of the given holds that are in force, in one transaction.
 *
 * @param check throws for a hold that the caller may not lift
 * @returns the holds that were lifted, and the bills that go out because of it
 */
export async function liftHolds(
  { store, clocks, nowMs }: Pick<ActionContext, "store" | "clocks" | "nowMs">,
  profile: BusinessProfile,
  lift: {
    readonly holdIds: readonly string[];
    readonly by: string;
    readonly check: (hold: Hold) => void;
  },
): Promise<{
  readonly released: readonly Hold[];
  readonly goesOut: readonly FreedLine[];
  /** Ids of holds on everything that stay in force. */
  readonly stillOnHoldBy: readonly string[];
}> {
  const clock = await clocks.read(profile);
  const { businessMs } = clock;
  const { businessId } = profile;
  return store.transactionOf(businessId, async (trx) => {
    const wanted = new Set(lift.holdIds);
    const inForce = await activeHolds(trx, businessId, businessMs);
    const lifting = inForce.filter(({ holdId }) => wanted.has(holdId));
    for (const hold of lifting) lift.check(hold);
    const goesOut = await freedBy(trx, { businessId, lifting, inForce, clock });
    const released: Hold[] = [];
    for (const { holdId } of lifting) {
      const hold = await releaseHold(trx, holdId, lift.by, nowMs());
      if (hold === undefined) continue;
      await releaseWithheld(trx, holdId, lift.by, nowMs());
      released.push(hold);
    }
    const stillOnHoldBy = inForce
      .filter(({ holdId, scope }) => scope === "all" && !wanted.has(holdId))
      .map(({ holdId }) => holdId);
    return { released, goesOut, stillOnHoldBy };
  });
}

/** A line that no hold is on any more. */
export interface FreedLine extends OpenLine {
  /**
   * The day that the line moves to if its own day has passed and the new one needs another
   * approval.
   */
  readonly asksAgainFor?: string | undefined;
}

/** Returns approved lines that only the holds to be lifted are on. */
export async function freedBy(
  db: Db | Transaction<Tables>,
  now: {
    readonly businessId: string;
    readonly lifting: readonly Hold[];
    /** All holds in force, including those to be lifted. */
    readonly inForce: readonly Hold[];
    readonly clock: ClockReading;
  },
): Promise<FreedLine[]> {
  const lifted = new Set(now.lifting.map(({ holdId }) => holdId));
  const others = now.inForce.filter(({ holdId }) => !lifted.has(holdId));
  const freed = new Map<string, OpenLine>();
  for (const hold of now.lifting) {
    const bounced = await decidedByLifting(db, hold);
    for (const line of await openLinesOf(db, now.businessId, hold)) {
      if (waitsForHold(line, bounced) && holdOn(others, line) === undefined) {
        freed.set(`${line.runId} ${line.payableId}`, line);
      }
    }
  }
  const approved: FreedLine[] = [];
  for (const [runId, lines] of Map.groupBy(freed.values(), (line) => line.runId)) {
    const are = await approvedLines(db, lines, now.clock.businessMs);
    const run = await getRun(db, runId);
    for (const line of lines) {
      if (!are.has(line.payableId)) continue;
      // A retry takes the next banking day under the approval that it has.
      const next =
        run === undefined || line.state === "retrying"
          ? undefined
          : newDateOf(line.executionDate, datesOf(run), now.clock);
      const asksAgainFor = next?.asksAgain === true ? next.executionDate : undefined;
      approved.push({ ...line, asksAgainFor });
    }
  }
  return approved;
}

/** What follows from releasing an account that bounced. */
export interface FreedByIncident {
  /** Bills that bounced and that no other hold is on. */
  readonly paidAgain: readonly FreedLine[];
  /** Bills that only the hold on the account was on. */
  readonly goesOut: readonly FreedLine[];
  /** Bills that bounced and that other holds are on. */
  readonly stillOnHold: readonly OpenLine[];
}

export async function freedByIncident(
  db: Db | Transaction<Tables>,
  incident: Incident,
  clock: ClockReading,
): Promise<FreedByIncident> {
  const { businessId, sourceId, holdId } = incident;
  const inForce = await activeHolds(db, businessId, clock.businessMs);
  // The incident's hold may have been lifted by hand a moment ago; the effect is the same.
  const own = await getHold(db, holdId);
  const [others, lifting] = [
    inForce.filter((hold) => !isHoldOf(incident, hold)),
    [...inForce.filter((hold) => isHoldOf(incident, hold)), ...(own === undefined ? [] : [own])],
  ];
  const waiting = await waitingForIncident(db, incident);
  const bounced = new Set(waiting.map(({ payableId }) => payableId));
  const hasBounced = ({ payableId }: OpenLine): boolean => bounced.has(payableId);
  const freed = await freedBy(db, { businessId, lifting, inForce, clock });
  const lines = await openLinesOf(db, businessId, { scope: "source", value: sourceId });
  return {
    paidAgain: freed.filter(hasBounced),
    goesOut: freed.filter((line) => !hasBounced(line)),
    stillOnHold: lines.filter((line) => hasBounced(line) && holdOn(others, line) !== undefined),
  };
}

/**
 * Returns the bills that bounced and are paid again when this hold is lifted, if it is the hold of
 * their account's incident.
 */
async function decidedByLifting(
  db: Db | Transaction<Tables>,
  { businessId, scope, value: sourceId, holdId }: Hold,
): Promise<ReadonlySet<string>> {
  const incident = scope === "source" ? await getIncident(db, businessId, sourceId) : undefined;
  if (incident?.holdId !== holdId || incident.phase === "ended") return new Set();
  const waiting = await waitingForIncident(db, { businessId, sourceId });
  return new Set(waiting.map(({ payableId }) => payableId));
}

/**
 * Returns true if a line goes out once the hold on it is lifted, provided that no other hold keeps
 * it back.
 */
function waitsForHold(
  { state, reasonCode, payableId }: OpenLine,
  bounced: ReadonlySet<string>,
): boolean {
  if (state !== "retrying") return LINE.letGo.includes(state);
  return reasonCode === "on_hold" || (bounced.has(payableId) && isReinitiable(reasonCode));
}

function datesOf({ policy, plannedAtMs }: Run) {
  return { policy, plannedAtMs: plannedAtMs ?? 0 };
}
