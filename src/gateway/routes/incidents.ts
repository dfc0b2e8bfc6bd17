import { z } from "zod";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { TopUpState } from "../../contracts/deposit.ts";
import type { IncidentDecision } from "../../contracts/incident.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import {
  decideIncident,
  getIncident,
  type Incident,
  listIncidents,
} from "../../store/incidents/incidents.ts";
import { activeHolds } from "../../store/holds/holds.ts";
import { topUpRunOfIncident } from "../../store/incidents/incident-deposits.ts";
import { getRun, type Run } from "../../store/runs/runs.ts";
import { openTopUpsOf, type TopUp, topUpsOf } from "../../store/deposits/deposits.ts";
import { decisionRules } from "../../decisions/deciding.ts";
import { takeTopUpDecision } from "../../decisions/take-top-up.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { type FreedByIncident, freedByIncident } from "../../actions/holds/release.ts";
import type { GatewayContext } from "../http/context.ts";
import { type Principal, requireRole } from "../../actions/principal.ts";
import { conflict, notFound, unprocessable } from "../../actions/errors.ts";
import { noteRefusalOf } from "../../actions/refused-today.ts";
import type { Routes } from "../http/route.ts";
import { IncidentBody, IncidentListBody } from "../../api/incidents.ts";
import { refusal } from "../../actions/decide.ts";
import { accountCalled } from "../../store/names/account-called.ts";
import { billsOfIncident, scheduledOf } from "../../reports/status/incident.ts";
import { topUpJson } from "../../reports/status/deposit.ts";
import { freedJson } from "../../reports/status/holds.ts";
import { businessQuery, idField, name, words } from "./fields.ts";

const decision = z.enum(
  ["released", "other-source", "top-up"],
  "must be released, other-source or top-up",
);

/** Adds the operations on funding accounts whose payments bounced: one decision each. */
export function addIncidentRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listIncidents",
    method: "get",
    path: "/v1/incidents",
    tag: "incidents",
    summary: "Funding accounts that payments bounced from, newest first",
    query: z.object({ business: name.optional() }),
    responses: {
      200: { description: "Newest first", schema: IncidentListBody },
    },
    handle: async ({ query, context }) => {
      const profiles =
        query.business === undefined
          ? context.profiles.all()
          : [businessNamed(context, query.business, "")];
      const items = [];
      for (const { businessId } of profiles) {
        for (const incident of await listIncidents(context.store.db, businessId)) {
          items.push(await incidentJson(context, incident));
        }
      }
      return { status: 200, json: { items } };
    },
  });

  routes.add({
    whose: "profiles",
    operationId: "decideIncident",
    method: "post",
    path: "/v1/incidents/{source}/decision",
    tag: "incidents",
    summary: "The one decision about a funding account that bounced",
    description:
      "`released` lifts its hold, and every bill that waits is paid again within Nacha's limits, unless another hold applies to it (`freed`). `other-source` gives the bills back to the next run and keeps the hold. `top-up` approves the deposit that the bills need (`topUps[].hash`), if a playbook allows one, and lifts the hold once the money is there.",
    params: z.object({ source: idField.describe("Funding source id, URL-encoded") }),
    query: businessQuery,
    roles: async ({ params, query }, context) => {
      const profile = businessNamed(context, query.business, "add “business” to the query");
      const known = await incidentOf(context, profile, params.source);
      return decidersOf(known, await proposedDeposit(context, known.workflowId));
    },
    body: z.strictObject({
      decision,
      reason: words,
      topUpHash: z
        .string()
        .min(1)
        .optional()
        .describe("With `top-up`: the deposit that was looked at"),
    }),
    responses: { 200: { description: "Written down", schema: IncidentBody } },
    handle: async ({ params, query, body, principal, context }) => {
      const profile = businessNamed(context, query.business, "add “business” to the query");
      const { incident, freed } = await decide(context, profile, params.source, body, principal);
      const json = await incidentJson(context, incident);
      if (freed === undefined) return { status: 200, json };
      return { status: 200, json: { ...json, freed: await freedJson(context, profile, freed) } };
    },
  });
}

async function incidentOf(
  context: GatewayContext,
  profile: BusinessProfile,
  sourceId: string,
): Promise<Incident> {
  const known = await getIncident(context.store.db, profile.businessId, sourceId);
  if (known === undefined) {
    throw notFound(`No payment from “${sourceId}” of ${profile.name} has bounced.`);
  }
  return known;
}

/**
 * Returns the roles that may decide an incident. The deposit's approvers may too, because it is the
 * same decision.
 */
function decidersOf({ roles }: Incident, deposit: Deposit | undefined): readonly string[] {
  return [...roles, "admin", ...(deposit?.topUp.approvers ?? [])];
}

async function decide(
  context: GatewayContext,
  profile: BusinessProfile,
  sourceId: string,
  said: {
    readonly decision: IncidentDecision;
    readonly reason: string;
    readonly topUpHash?: string | undefined;
  },
  by: Principal,
): Promise<{ readonly incident: Incident; readonly freed: FreedByIncident | undefined }> {
  const { businessId } = profile;
  const known = await incidentOf(context, profile, sourceId);
  const deposit =
    said.decision === "top-up" ? await proposedDeposit(context, known.workflowId) : undefined;
  requireRole(by, decidersOf(known, deposit));
  if (said.decision === "top-up" && known.decision !== null && !isAskedFor(deposit)) {
    throw conflict("already_decided", await whatWasDecided(context, profile, known));
  }
  if (said.decision === "top-up" && deposit === undefined) {
    throw unprocessable("no_top_up", await whyNoDeposit(context, profile, known));
  }
  const clock = await context.clocks.read(profile);
  const { businessMs } = clock;
  const asked = deposit === undefined ? undefined : asLookedAt(deposit, said.topUpHash);
  const outcome = await context.store.transactionOf(businessId, async (trx) => {
    const nowMs = context.nowMs();
    if (asked !== undefined) {
      const { run, topUp } = asked;
      const { planHash } = topUp;
      const request = { decision: "approve", planHash, drop: [], comment: said.reason } as const;
      const noteRefusal = noteRefusalOf(context, by, known.workflowId);
      const judging = { ...decisionRules(profile), clock, nowMs, noteRefusal };
      const deciding = { run, request, principal: by, ...judging };
      const about = { owner: known.workflowId, hash: topUp.hash };
      const taken = await takeTopUpDecision(trx, deciding, about);
      if (!taken.accepted) return taken;
    }
    const moment = { by: by.name, nowMs, businessMs };
    const freed =
      said.decision === "released" ? await freedByIncident(trx, known, clock) : undefined;
    if (!(await decideIncident(trx, known, { ...said, ...moment }))) return undefined;
    const incident = await getIncident(trx, businessId, sourceId);
    return incident === undefined ? undefined : { incident, freed };
  });
  // The transaction wrote the refusal to the trail, so it is thrown only after the commit.
  if (outcome !== undefined && "accepted" in outcome) throw refusal(outcome);
  const decided = outcome;
  if (decided === undefined) {
    throw conflict("already_decided", await whatWasDecided(context, profile, known));
  }
  return decided;
}

/** Says what was decided, when, and how things stand since. */
async function whatWasDecided(
  { store, clocks }: GatewayContext,
  profile: BusinessProfile,
  known: Incident,
): Promise<string> {
  const { db } = store;
  const { zone } = profile;
  const { businessId, sourceId, workflowId } = known;
  const { businessMs: nowMs } = await clocks.read(profile);
  const now = (await getIncident(db, businessId, sourceId)) ?? known;
  const when = now.decidedAtMs === null ? "" : `, ${spokenTime(now.decidedAtMs, zone)}`;
  const deposit = (await topUpsOf(db, workflowId)).at(-1);
  const holds = await activeHolds(db, businessId, Math.floor(nowMs));
  const hold = holds.find(({ holdId }) => holdId === now.holdId);
  const stands =
    hold === undefined
      ? "Its hold is lifted."
      : now.phase === "topping-up"
        ? "Its hold is lifted once the money is there."
        : `It stays on hold until payrun release ${hold.holdId}.`;
  return [
    `The incident of ${sourceId} has been decided: ${now.decision ?? "released"} by ${now.decidedBy ?? "a person"}${when}.`,
    ...(now.decision === "top-up" && deposit !== undefined
      ? [`The deposit of ${formatUsd(deposit.amountCents)} is ${DEPOSIT_IS[deposit.state]}.`]
      : []),
    stands,
  ].join(" ");
}

const DEPOSIT_IS: Readonly<Record<TopUpState, string>> = {
  proposed: "approved and not sent yet",
  sending: "being sent",
  "on-its-way": "on its way",
  completed: "there",
  returned: "taken back by the bank",
  failed: "failed",
  refused: "refused",
  withdrawn: "no longer needed",
};

/** Returns true if a deposit waits for an approval, or is approved and not sent yet. */
function isAskedFor(deposit: Deposit | undefined): boolean {
  return deposit?.topUp.state === "proposed";
}

interface Deposit {
  readonly run: Run;
  readonly topUp: TopUp;
}

/** Returns the deposit that an incident asks for, and the run that allows it. */
async function proposedDeposit(
  { store }: GatewayContext,
  workflowId: string,
): Promise<Deposit | undefined> {
  const topUp = (await openTopUpsOf(store.db, workflowId)).at(-1);
  const run = topUp === undefined ? undefined : await getRun(store.db, topUp.policyRunId);
  return topUp === undefined || run === undefined ? undefined : { run, topUp };
}

/** Returns the deposit with the hash that the caller looked at. */
function asLookedAt({ run, topUp }: Deposit, hash: string | undefined): Deposit {
  if (hash === undefined) {
    throw unprocessable(
      "no_top_up_hash",
      "Name the deposit that you have looked at: topUpHash, from topUps of GET /v1/incidents.",
    );
  }
  return { run, topUp: { ...topUp, hash } };
}

/** Explains why an incident asks for no deposit, and what to do instead. */
async function whyNoDeposit(
  context: GatewayContext,
  profile: BusinessProfile,
  incident: Incident,
): Promise<string> {
  const { sourceId } = incident;
  const byHand = "Put the money in by hand, and say “released” once it is there.";
  const none = `No deposit is proposed for ${sourceId}:`;
  const runId = await topUpRunOfIncident(context.store.db, incident);
  const rule =
    runId === undefined ? undefined : (await getRun(context.store.db, runId))?.policy.pay.topUp;
  if (rule === undefined) {
    return `${none} only the balance takes one, if the playbook of a bill that waits allows it (pay: topUp). ${byHand}`;
  }
  if (profile.achAuthorization === undefined) {
    return `${none} nobody has accepted the ACH debit authorization for business “${profile.name}”. Add achAuthorization: { acceptedBy, acceptedAt } to its profile once a person has, or put the money in by hand and say “released” once it is there.`;
  }
  return `${none} its money may be there by now, or is still being calculated, or more than ${formatUsd(rule.atMostCents)} is missing, which is all that the playbook allows, or the account that it would come from is not verified. Look again in a few minutes: payrun incident. ${byHand}`;
}

/** Most bills of an incident that the list of incidents names; its status has all of them. */
const NAMED_MOST = 100;

async function incidentJson(context: GatewayContext, incident: Incident) {
  const profile = businessNamed(context, incident.business, "");
  const businessMs = Math.floor((await context.clocks.read(profile)).businessMs);
  const { db } = context.store;
  const bills = await billsOfIncident(db, incident);
  return {
    id: incident.workflowId,
    business: incident.business,
    source: incident.sourceId,
    account: await accountCalled(db, incident.businessId, incident.sourceId),
    phase: incident.phase,
    code: incident.code,
    reason: incident.reason,
    roles: [...incident.roles],
    holdId: incident.holdId,
    openedAt: new Date(incident.openedAtMs).toISOString(),
    decision: incident.decision,
    decidedBy: incident.decidedBy,
    topUps: await Promise.all(
      (await topUpsOf(context.store.db, incident.workflowId)).map((each) =>
        topUpJson(context.store.db, each, businessMs),
      ),
    ),
    bills: bills.length,
    payments: bills.slice(0, NAMED_MOST),
    billsCents: bills.reduce((sum, { amountCents }) => sum + amountCents, 0),
    ...definedOnly({ scheduled: await scheduledOf(context, incident) }),
  };
}
