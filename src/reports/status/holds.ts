import type { BusinessProfile } from "../../config/business-profile.ts";
import type { GoesOut, HeldSums } from "../../api/holds.ts";
import type { Freed } from "../../api/incidents.ts";
import type { ActionContext } from "../../actions/context.ts";
import { NEW_YORK } from "../../domain/clock/new-york.ts";
import type { HoldTarget } from "../../domain/holds.ts";
import { NotSentSums, type OtherNow } from "../../domain/approvals/share.ts";
import { judgeStop } from "../../domain/cancellations/stop.ts";
import { isBehind, sendsAfter } from "../../ledger/after-loss.ts";
import { type Hold, namesOfHolds } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import { othersNow, PATIENCE_MS } from "../../actions/others-now.ts";
import { getRun } from "../../store/runs/runs.ts";
import type { FreedByIncident, FreedLine } from "../../actions/holds/release.ts";
import { type OpenLine, openSumsOf, paidSumOf } from "../../store/lines/open-lines.ts";
import { paidOutside } from "./paid-outside.ts";
import { calledBill, namesOf } from "../../store/names/names.ts";

/**
 * Returns holds as the API shows them, with the names of what they are on.
 *
 * @param mayLift says whether the caller may lift a hold; left out if the answer is not to say it
 */
export async function holdsJson(
  db: Db,
  holds: readonly Hold[],
  { name: business, zone = NEW_YORK }: Pick<BusinessProfile, "name" | "zone">,
  mayLift?: (hold: Hold) => boolean,
) {
  const called = await namesOfHolds(db, holds);
  return holds.map((hold) => {
    const name = called.get(hold.holdId);
    return {
      id: hold.holdId,
      business,
      zone,
      scope: hold.scope,
      value: hold.value,
      number: name?.number ?? null,
      name: name?.name ?? null,
      amountCents: name?.amountCents ?? null,
      reason: hold.reason,
      author: hold.author,
      authorKind: hold.authorKind,
      roles: hold.roles,
      createdAt: new Date(hold.createdAtMs).toISOString(),
      until: hold.untilMs === null ? null : new Date(hold.untilMs).toISOString(),
      releasedAt: hold.releasedAtMs === null ? null : new Date(hold.releasedAtMs).toISOString(),
      releasedBy: hold.releasedBy,
      ...(mayLift === undefined ? {} : { yours: mayLift(hold) }),
    };
  });
}

/** Returns one hold, as the API shows it. */
export async function holdJson(
  db: Db,
  hold: Hold,
  profile: Pick<BusinessProfile, "name" | "zone">,
) {
  const [json] = await holdsJson(db, [hold], profile);
  if (json === undefined) throw new Error("a hold is shown as one");
  return json;
}

/**
 * Returns what a hold is on, and what the service already has of it, external payments
 * included.
 *
 * @param unplanned amount of a bill, which is on hold if no line of a run stands for the bill and
 * the service doesn't say what is owed
 */
export async function heldSums(
  context: Pick<ActionContext, "store" | "clocks" | "clientOf">,
  profile: BusinessProfile,
  target: HoldTarget,
  unplanned: number | null = null,
): Promise<HeldSums> {
  const { store, clocks } = context;
  // Read before the store: a payment that a request makes meanwhile must not look external.
  const outside = await paidOutside(context, profile, target);
  const sums = await openSumsOf(store.db, profile.businessId, target);
  const clock = await clocks.read(profile);
  const now = judgeStop([...sums, ...(outside?.lines ?? [])], clock);
  const { waiting, underWay, gone } = now;
  const { earliestCutOffMs, ...recallable } = now.recallable;
  const ours = await paidSumOf(store.db, profile.businessId, target);
  const isOpen = sums.length > 0 || ours.bills > 0;
  const owed = outside === undefined ? unplanned : (outside.bill?.owedCents ?? null);
  const isUnplanned = target.scope === "payable" && !isOpen && owed !== null;
  const ofRun = outside?.ofRun ?? null;
  const paid = ours.bills > 0 ? ours : billOf(outside?.bill?.paidCents ?? 0);
  return {
    zone: profile.zone ?? NEW_YORK,
    waiting: isUnplanned ? billOf(owed) : waiting,
    recallable: {
      ...recallable,
      earliestCutOff: earliestCutOffMs === null ? null : new Date(earliestCutOffMs).toISOString(),
    },
    underWay,
    gone,
    paid,
    storeBehind: await isBehind(store.db, profile.businessId, clock),
    ...(outside === undefined ? { othersUnread: true } : {}),
    ...(ofRun === null || ofRun.bills === 0 ? {} : { paidByOthers: ofRun }),
  };
}

function billOf(totalCents: number): { readonly bills: number; readonly totalCents: number } {
  return { bills: totalCents > 0 ? 1 : 0, totalCents };
}

/** Returns the bills that go out because a hold was lifted. */
export async function goesOutJson(
  context: Pick<ActionContext, "store" | "clocks" | "clientOf">,
  profile: BusinessProfile,
  freed: readonly FreedLine[],
): Promise<GoesOut> {
  const { clocks, store } = context;
  const { db } = store;
  const { businessId } = profile;
  const others = await othersAmong(context, profile, freed);
  const notSent = new NotSentSums();
  const lines: FreedLine[] = [];
  for (const line of freed) {
    const other = others.get(line.runId)?.get(line.payableId);
    if (other === undefined) lines.push(line);
    else notSent.add(other, { count: 1, cents: line.amountCents });
  }
  const asked = lines.filter(({ asksAgainFor }) => asksAgainFor !== undefined);
  const goes = lines.filter(({ asksAgainFor }) => asksAgainFor === undefined);
  const shown = goes.slice(0, GOES_OUT_SHOWN);
  const ids = shown.map(({ payableId }) => payableId);
  const names = ids.length === 0 ? undefined : await namesOf(db, businessId, "bill", ids);
  const executionDate = asked[0]?.asksAgainFor;
  return {
    ...(await sendsAfter(db, businessId, await clocks.read(profile))),
    ...billSumOf(goes),
    ...notSent.shown(),
    ...(executionDate === undefined ? {} : { asksAgain: { ...billSumOf(asked), executionDate } }),
    items: shown.map(({ payableId, amountCents, runId }) => {
      return { payableId, ...calledBill(names?.get(payableId)), amountCents, runId };
    }),
  };
}

/**
 * Returns the bills that are paid again, go out or are still on hold after an account was released.
 */
export async function freedJson(
  context: Pick<ActionContext, "store" | "clocks" | "clientOf">,
  profile: BusinessProfile,
  { paidAgain, goesOut, stillOnHold }: FreedByIncident,
): Promise<Freed> {
  return {
    paidAgain: await goesOutJson(context, profile, paidAgain),
    goesOut: await goesOutJson(context, profile, goesOut),
    stillOnHold: billSumOf(stillOnHold),
  };
}

/**
 * Returns the freed bills that now differ from the plan, by run. Only bills and vendors with events
 * are read.
 */
async function othersAmong(
  context: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  freed: readonly FreedLine[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, OtherNow>>> {
  const others = new Map<string, ReadonlyMap<string, OtherNow>>();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  for (const runId of new Set(freed.map((line) => line.runId))) {
    const run = await getRun(context.store.db, runId);
    if (run === undefined) continue;
    others.set(runId, await othersNow(context, profile, run, { vendors: "of-events", signal }));
  }
  return others;
}

function billSumOf(lines: readonly OpenLine[]) {
  const totalCents = lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return { bills: lines.length, totalCents };
}

const GOES_OUT_SHOWN = 100;
