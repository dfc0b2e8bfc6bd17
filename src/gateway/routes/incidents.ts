import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { fundingIncidentId } from "../../contracts/names.ts";
import {
  decideIncident,
  getIncident,
  type Incident,
  type IncidentDecision,
  listIncidents,
} from "../../store/incidents.ts";
import { getRun, type Run } from "../../store/runs.ts";
import { openTopUpsOf, type TopUp, topUpsOf } from "../../store/top-ups.ts";
import { waitingForIncident } from "../../store/retry-cases.ts";
import { takeTopUpDecision } from "../../decisions/take-top-up.ts";
import { businessNamed } from "../businesses.ts";
import type { GatewayContext } from "../context.ts";
import { type Principal, requireRole } from "../http/auth.ts";
import { conflict, notFound, unprocessable } from "../http/errors.ts";
import { addRoute } from "../http/route.ts";
import { topUpStatus } from "../http/top-up-schemas.ts";
import { refusal } from "../decisions.ts";
import { topUpJson } from "../top-ups.ts";
import { tellToLook } from "../tell.ts";
import { businessQuery, id, name, words } from "./fields.ts";

const IncidentBody = z
  .object({
    id: z.string(),
    business: z.string(),
    source: z.string(),
    phase: z.enum(["open", "topping-up", "ended"]),
    code: z.string(),
    reason: z.string(),
    roles: z.array(z.string()).describe("Any of these decides"),
    holdId: z.string(),
    openedAt: z.string(),
    decision: z.enum(["released", "other-source", "top-up"]).nullable(),
    decidedBy: z.string().nullable(),
    bills: z.int().describe("Bills that wait for the decision"),
    billsCents: z.int(),
    topUps: z.array(topUpStatus).describe("Deposits that it has asked for, first to last"),
  })
  .openapi("Incident");

const decision = z.enum(
  ["released", "other-source", "top-up"],
  "must be released, other-source or top-up",
);

/** Funding accounts that bounced: one decision each. */
export function addIncidentRoutes(app: OpenAPIHono, context: GatewayContext): void {
  addRoute(app, context, {
    method: "get",
    path: "/v1/incidents",
    tag: "incidents",
    summary: "Funding accounts that payments bounced from, newest first",
    query: z.object({ business: name.optional() }),
    responses: {
      200: { description: "Newest first", schema: z.object({ items: z.array(IncidentBody) }) },
    },
    handle: async ({ query }) => {
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

  addRoute(app, context, {
    method: "post",
    path: "/v1/incidents/{source}/decision",
    tag: "incidents",
    summary: "The one decision about a funding account that bounced",
    description:
      "`released` lifts its hold, and every bill that waits is paid again within Nacha's limits. `other-source` gives the bills back to the next run and keeps the hold. `top-up` approves the deposit that the bills need (`topUps[].hash`), where a playbook allows one, and lifts the hold once the money is there.",
    params: z.object({ source: id.describe("Funding source id, URL-encoded") }),
    query: businessQuery,
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
    handle: async ({ params, query, body, principal }) => {
      const profile = businessNamed(context, query.business, "add “business” to the query");
      const decided = await decide(context, profile, params.source, body, principal);
      return { status: 200, json: await incidentJson(context, decided) };
    },
  });
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
): Promise<Incident> {
  const { businessId } = profile;
  const known = await getIncident(context.store.db, businessId, sourceId);
  if (known === undefined) {
    throw notFound(`No payment from “${sourceId}” of ${profile.name} has bounced.`);
  }
  requireRole(by, [...known.roles, "admin"]);
  const clock = await context.clocks.read(profile);
  const { businessMs } = clock;
  const asked =
    said.decision === "top-up" ? await askedDeposit(context, known, said.topUpHash) : undefined;
  const outcome = await context.store.transactionOf(businessId, async (trx) => {
    const nowMs = context.nowMs();
    if (asked !== undefined) {
      const { run, topUp } = asked;
      const { planHash } = topUp;
      const request = { decision: "approve", planHash, drop: [], comment: said.reason } as const;
      const deciding = { run, request, principal: by, clock, nowMs };
      const about = { owner: known.workflowId, hash: topUp.hash };
      const taken = await takeTopUpDecision(trx, deciding, about);
      if (!taken.accepted) return taken;
    }
    const moment = { by: by.name, nowMs, businessMs };
    if (await decideIncident(trx, known, { ...said, ...moment })) {
      return getIncident(trx, businessId, sourceId);
    }
    return undefined;
  });
  // A refusal is stored as well, so it is thrown only after the transaction.
  if (outcome !== undefined && "accepted" in outcome) throw refusal(outcome);
  const decided = outcome;
  if (decided === undefined) {
    throw conflict(
      "already_decided",
      `The incident of ${sourceId} has been decided: ${known.decision ?? "released"} by ${known.decidedBy ?? "somebody"}.`,
    );
  }
  tellToLook(context, [fundingIncidentId(profile.name, sourceId)]);
  return decided;
}

/** The deposit that a decision is about, exactly as it was looked at, and the run that allows it. */
async function askedDeposit(
  context: GatewayContext,
  { workflowId, sourceId }: Incident,
  hash: string | undefined,
): Promise<{ readonly run: Run; readonly topUp: TopUp }> {
  const { db } = context.store;
  const topUp = (await openTopUpsOf(db, workflowId)).at(-1);
  const run = topUp === undefined ? undefined : await getRun(db, topUp.policyRunId);
  if (topUp === undefined || run === undefined) {
    throw unprocessable(
      "no_top_up",
      `No deposit is proposed for ${sourceId}: only the balance takes one, where the playbook of a bill that waits allows it (pay: topUp) and its money is missing. Put the money in by hand, and say “released” once it is there.`,
    );
  }
  if (hash === undefined) {
    throw unprocessable(
      "no_top_up_hash",
      "Name the deposit that you have looked at: topUpHash, from topUps of GET /v1/incidents.",
    );
  }
  return { run, topUp: { ...topUp, hash } };
}

async function incidentJson(context: GatewayContext, incident: Incident) {
  const profile = businessNamed(context, incident.business, "");
  const businessMs = Math.floor((await context.clocks.read(profile)).businessMs);
  const bills = await waitingForIncident(context.store.db, incident);
  return {
    id: incident.workflowId,
    business: incident.business,
    source: incident.sourceId,
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
    billsCents: bills.reduce((sum, { amountCents }) => sum + amountCents, 0),
  };
}
