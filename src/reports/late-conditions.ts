import { DAY_MS, HOUR_MS, MINUTE_MS } from "../contracts/durations.ts";
import type { Condition } from "../api/conditions.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { spokenDeadline } from "../domain/clock/spoken.ts";
import { DECIDE_SOON_MS } from "../domain/notices/decide-by.ts";
import { launchOf, whyMissed } from "../domain/notices/missed-run-texts.ts";
import { oldestUndispatchedMs, recoveredSince, tookWebhookAfter } from "../store/events/inbox.ts";
import { lossNoticed } from "../store/janitor/behind.ts";
import { lastRefusedWebhook } from "../store/audit/refused-webhooks.ts";
import type { Db } from "../store/index.ts";
import { billsInDoubtSince } from "../store/lines/in-doubt.ts";
import { runsNotStarted } from "../store/runs/not-started.ts";
import { listRuns } from "../store/runs/runs.ts";
import { deadlineOf } from "./status/run.ts";

/** A run that was missed longer ago is history. */
const STARTED_DAYS = 3;
const RUNS = 100;
const IN_DOUBT_MS = HOUR_MS;
const UNDISPATCHED_MS = 5 * MINUTE_MS;
const RECOVERED_WITHIN_MS = HOUR_MS;
/** Within a day, repeated refusals are recorded ever more rarely. */

/** Refusal reasons of webhooks that the service itself may have sent. */
const SIGNATURES: readonly string[] = ["no_match", "no_secret", "too_old", "too_new"];

interface Asked {
  readonly db: Db;
  readonly profiles: readonly BusinessProfile[];
  readonly nowMs: number;
}

/**
 * Reports what should have happened by now: a run, a decision, an answer about a bill, a webhook.
 */
export async function lateConditions({ db, profiles, nowMs }: Asked): Promise<Condition[]> {
  const found = profiles.map(async (profile) => [
    ...(await notStarted(db, profile, nowMs)),
    ...(await decisionsDue(db, profile, nowMs)),
    ...(await inDoubt(db, profile, nowMs)),
    ...(await eventsLate(db, profile, nowMs)),
  ]);
  return (await Promise.all(found)).flat();
}

async function notStarted(db: Db, profile: BusinessProfile, nowMs: number): Promise<Condition[]> {
  const { name: business } = profile;
  const late = await runsNotStarted(db, profile, { nowMs, days: STARTED_DAYS });
  return late.map((run): Condition => {
    const text = `the run ${run.playbook}/${run.period} should have started, and has not${run.isMissed ? `: ${whyMissed(run.schedule)}` : ""}`;
    const first = run.isMissed ? "Launch it" : "Look for why in the worker's log, then";
    const remedy = `${first}: ${launchOf(run)}`;
    return { code: "run_not_started", severity: "failed", business, text, remedy };
  });
}

/**
 * Reports decisions that are due soon. A sandbox has a clock of its own, so its deadlines are not
 * judged here.
 */
async function decisionsDue(
  db: Db,
  { name: business, businessId, sandbox, zone }: BusinessProfile,
  nowMs: number,
): Promise<Condition[]> {
  if (sandbox) return [];
  const found: Condition[] = [];
  for (const run of await listRuns(db, { businessId, undecidedAtMs: nowMs, limit: RUNS })) {
    const decideBy = await deadlineOf(db, run);
    if (decideBy === null || Date.parse(decideBy) - nowMs > DECIDE_SOON_MS) continue;
    const by = spokenDeadline(decideBy, { zone });
    const text = `the run ${run.runId} waits for a decision, and its dates change after ${by}`;
    const remedy = `payrun show ${run.runId} says what waits and for whom.`;
    found.push({ code: "decision_due", severity: "warning", business, text, remedy });
  }
  return found;
}

async function inDoubt(
  db: Db,
  { name: business, businessId }: BusinessProfile,
  nowMs: number,
): Promise<Condition[]> {
  const bills = await billsInDoubtSince(db, businessId, nowMs - IN_DOUBT_MS);
  const [first] = bills;
  if (first === undefined) return [];
  const which = bills.length === 1 ? `the bill ${first} is` : `${bills.length} bills are`;
  const text = `${which} in doubt for an hour: the service has not said what became of a request`;
  const remedy = `payrun explain ${first} says what was sent and found; Payrun goes on looking, and sends nothing new.`;
  return [{ code: "bill_in_doubt", severity: "failed", business, text, remedy }];
}

async function eventsLate(db: Db, profile: BusinessProfile, nowMs: number): Promise<Condition[]> {
  const { name: business, businessId } = profile;
  const found: Condition[] = [];
  const oldestMs = await oldestUndispatchedMs(db, businessId);
  if (oldestMs !== null && nowMs - oldestMs > UNDISPATCHED_MS) {
    const text =
      "events that were received have waited for more than five minutes to reach their run";
    const remedy =
      "A gateway takes them on once it reaches Temporal: GET /ready says whether it does.";
    found.push({ code: "events_undispatched", severity: "failed", business, text, remedy });
  }
  const missed = await recoveredSince(db, businessId, nowMs - RECOVERED_WITHIN_MS);
  if (missed > 0) {
    const unsigned = await stillUnsigned(db, profile, nowMs);
    const loss = await lossNoticed(db, businessId);
    const isRestored = loss !== null && nowMs - loss.atMs < RECOVERED_WITHIN_MS;
    const why =
      unsigned !== null
        ? `. Either the gateway was not reachable, or it refused them: it has refused webhooks whose signature it could not confirm (${unsigned})`
        : isRestored
          ? ". The store was restored within that hour: it has lost which webhooks came before"
          : "";
    const text = `no webhook brought ${missed} event${missed === 1 ? "" : "s"} of the last hour; the list of deliveries had them${why}`;
    const compare =
      unsigned !== null
        ? " Compare webhookSecrets with the endpoint's secret at the service, and this machine's clock; if they differ, restart the gateways once they don't."
        : "";
    const remedy = `See that the service reaches the gateway at PAYRUN_PUBLIC_URL: DNS, TLS, the balancer. Nothing is lost.${compare}`;
    found.push({ code: "webhooks_missed", severity: "warning", business, text, remedy });
  }
  return found;
}

/**
 * Returns why webhooks that the service itself may have sent were refused. Null if there were none,
 * or if one was accepted since: then they came from another sender.
 */
async function stillUnsigned(
  db: Db,
  { name: business, businessId }: BusinessProfile,
  nowMs: number,
): Promise<string | null> {
  const refused = await lastRefusedWebhook(db, { businessId, business, sinceMs: nowMs - DAY_MS });
  if (refused === null || !SIGNATURES.includes(refused.why)) return null;
  return (await tookWebhookAfter(db, businessId, refused.atMs)) ? null : refused.why;
}
