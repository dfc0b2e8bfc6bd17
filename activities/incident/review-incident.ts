import { endedLook } from "../shared/ended-look.ts";
import { inMarkdown } from "../../src/domain/others-text.ts";
import { type Author, PAYRUN, authorOf } from "../../src/contracts/authors.ts";
import type { ClockReading } from "../../src/business/clock.ts";
import type { FundingIncidentInput, IncidentAssessment } from "../../src/contracts/activities.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { counted } from "../../src/domain/counted.ts";
import { formatUsd } from "../../src/domain/money.ts";
import { LONGEST_SLEEP_MS, moneyPollInMs } from "../../src/domain/sleeps.ts";
import { getHold, type Hold } from "../../src/store/holds/holds.ts";
import { decideIncident, getIncident, type Incident } from "../../src/store/incidents/incidents.ts";
import { unpromisedCents } from "../../src/store/lines/reserved.ts";
import { accountCalled } from "../../src/store/names/account-called.ts";
import { waitingForIncident } from "../../src/store/lines/retry-cases.ts";
import type { ActivityContext } from "../shared/context.ts";
import { readOrWait } from "../shared/read-or-wait.ts";
import { incidentDeposits, withDeposits } from "./incident-deposits.ts";

/**
 * Returns where a funding account's incident stands. Ends it if a person has lifted its hold, or if
 * the announced money has arrived; every bill that waits for it is notified.
 */
export async function reviewIncident(
  context: ActivityContext,
  { business, sourceId }: FundingIncidentInput,
): Promise<IncidentAssessment> {
  const { businessId } = context.profileOf(business);
  const { db } = context.store;
  const known = await getIncident(db, businessId, sourceId);
  if (known === undefined) return endedLook("the store knows of no incident");
  const bills = await waitingForIncident(db, { businessId, sourceId });
  const neededCents = bills.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const incident = await settle(context, known);
  const deposits = await incidentDeposits(context, incident);
  const clock = await context.clockOf(business).now();
  const wakeInMs = waitMs(incident, deposits.mayTopUp, clock);
  if (incident.phase === "ended") {
    const outcome = `${incident.decision ?? "released"} by ${incident.decidedBy ?? "a person"}`;
    if (!deposits.moving) return endedLook(outcome);
    // Money that was requested is followed until it has arrived, whoever decided meanwhile.
    const waitingFor = "a deposit that is on its way";
    const details = `Decided: ${inMarkdown(outcome)}.`;
    const following = {
      phase: "topping-up",
      waitingFor,
      wakeInMs,
      details,
      outcome: null,
    } as const;
    return withDeposits(following, deposits);
  }
  const account = await accountCalled(db, businessId, sourceId);
  const isTopUp = incident.phase === "topping-up";
  const waitingFor = isTopUp
    ? `money in ${account}: ${formatUsd(neededCents)} for ${counted(bills.length, "bill")}`
    : `a decision of ${incident.roles.join(" or ")}: payrun incident ${sourceId} --released, --other-source or --top-up`;
  const assessment = {
    phase: incident.phase,
    waitingFor,
    soFar: `${counted(bills.length, "bill")} of ${formatUsd(neededCents)} bounced (the first: ${incident.code})`,
    wakeInMs,
    details: [
      `**${inMarkdown(account)}** of ${business} is on hold for all runs: payments from it bounced (the first: ${inMarkdown(incident.code)}).`,
      "",
      `Waits for ${inMarkdown(waitingFor)}.`,
      "",
      `Bills that wait: ${bills.length}, ${formatUsd(neededCents)}.`,
    ].join("\n"),
    outcome: null,
  };
  return withDeposits(assessment, deposits);
}

/**
 * Returns real milliseconds until the next look. Only money arrives without a signal: the money
 * that was announced, and the balance that a deposit is computed from.
 */
function waitMs(incident: Incident, mayTopUp: boolean, clock: ClockReading): number {
  const looksForMoney = incident.phase === "topping-up" || mayTopUp;
  if (incident.phase === "ended" || !looksForMoney) return LONGEST_SLEEP_MS;
  return moneyPollInMs(clock.realMs - (incident.decidedAtMs ?? incident.openedAtMs), clock);
}

/**
 * Ends an incident whose hold was lifted by hand, which is a release, or whose top-up has arrived.
 */
async function settle(context: ActivityContext, incident: Incident): Promise<Incident> {
  if (incident.phase === "ended") return incident;
  const { db } = context.store;
  const { businessId, business, sourceId } = incident;
  const hold = await getHold(db, incident.holdId);
  const lifted = hold === undefined || hold.releasedAtMs !== null;
  if (!lifted && incident.phase !== "topping-up") return incident;
  if (!lifted && !(await hasMoney(context, incident))) return incident;
  const { businessMs, realMs } = await context.clockOf(business).now();
  await context.store.transactionOf(businessId, (trx) =>
    decideIncident(trx, incident, {
      decision: "released",
      by: deciderOf(incident, hold),
      reason: lifted ? "Its hold was lifted." : "The money has arrived.",
      nowMs: realMs,
      businessMs,
    }),
  );
  return (await getIncident(db, businessId, sourceId)) ?? incident;
}

/** Returns who released an incident: whoever lifted its hold, or had decided before. */
function deciderOf(incident: Incident, hold: Hold | undefined): Author {
  if (hold?.releasedBy != null) return authorOf(hold.releasedBy, hold.releasedByKind ?? "system");
  if (incident.decidedBy === null) return PAYRUN;
  return authorOf(incident.decidedBy, incident.decidedByKind ?? "system");
}

/**
 * True if the account covers the bills that wait, beside everything else that is promised from it.
 */
async function hasMoney(
  context: ActivityContext,
  { business, businessId, sourceId }: Incident,
): Promise<boolean> {
  const readAtMs = Date.now();
  const sources = await readOrWait(context, { business, businessId }, () =>
    context.clientOf(business).fundingSources.list(),
  );
  const available = sources?.find(({ id }) => id === sourceId)?.availableCents ?? null;
  if (available === null) return false;
  const { db } = context.store;
  const today = newYorkDate((await context.clockOf(business).now()).businessMs);
  const from = { businessId, sourceId, today, readAtMs };
  return ((await unpromisedCents(db, from, available)) ?? -1) >= 0;
}
