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
import { waitingForIncident } from "../../store/retry-cases.ts";
import { businessNamed } from "../businesses.ts";
import type { GatewayContext } from "../context.ts";
import { type Principal, requireRole } from "../http/auth.ts";
import { conflict, notFound, unprocessable } from "../http/errors.ts";
import { addRoute } from "../http/route.ts";
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
      "`released` lifts its hold, and every bill that waits is paid again within Nacha's limits. `other-source` gives the bills back to the next run and keeps the hold. `top-up` lifts the hold once the account holds what the bills need.",
    params: z.object({ source: id.describe("Funding source id, URL-encoded") }),
    query: businessQuery,
    body: z.strictObject({ decision, reason: words }),
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
  said: { readonly decision: IncidentDecision; readonly reason: string },
  by: Principal,
): Promise<Incident> {
  const { businessId } = profile;
  const known = await getIncident(context.store.db, businessId, sourceId);
  if (known === undefined) {
    throw notFound(`No payment from “${sourceId}” of ${profile.name} has bounced.`);
  }
  requireRole(by, [...known.roles, "admin"]);
  if (said.decision === "top-up") await requireFigure(context, profile, sourceId);
  const { businessMs } = await context.clocks.read(profile);
  const decided = await context.store.transactionOf(businessId, async (trx) => {
    const moment = { by: by.name, nowMs: context.nowMs(), businessMs };
    if (await decideIncident(trx, known, { ...said, ...moment })) {
      return getIncident(trx, businessId, sourceId);
    }
    return undefined;
  });
  if (decided === undefined) {
    throw conflict(
      "already_decided",
      `The incident of ${sourceId} has been decided: ${known.decision ?? "released"} by ${known.decidedBy ?? "somebody"}.`,
    );
  }
  tellToLook(context, [fundingIncidentId(profile.name, sourceId)]);
  return decided;
}

/** Nobody would notice the money in an account that doesn't tell what it holds. */
async function requireFigure(
  context: GatewayContext,
  profile: BusinessProfile,
  sourceId: string,
): Promise<void> {
  const sources = await context.clientOf(profile).fundingSources.list();
  const source = sources.find((each) => each.id === sourceId);
  if (source !== undefined && source.availableCents !== null) return;
  throw unprocessable(
    "balance_unknown",
    `The service doesn't tell what ${sourceId} holds, so nothing would notice the money: say “released” once it is there.`,
  );
}

async function incidentJson(context: GatewayContext, incident: Incident) {
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
    bills: bills.length,
    billsCents: bills.reduce((sum, { amountCents }) => sum + amountCents, 0),
  };
}
