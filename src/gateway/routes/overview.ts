import { z } from "zod";
import { namedOrAll } from "../../actions/businesses.ts";
import { approverRoles } from "../../actions/holds/who.ts";
import type { Principal } from "../../actions/principal.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { OverviewBody } from "../../api/overview.ts";
import { overviewOf } from "../../reports/overview.ts";
import type { Routes } from "../http/route.ts";
import { type UnderWay, UnderWayBody } from "../../api/under-way.ts";
import { underWay } from "../../reports/under-way.ts";
import type { GatewayContext } from "../http/context.ts";
import { MAY, name, pageNumber, pageSize } from "./fields.ts";
import { hasRole } from "../../domain/approvals/token.ts";

/** Most bills in one answer. */
const UNDER_WAY_MOST = 1_000;

/** Adds the overview: what a person has to deal with today. */
export function addOverviewRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getOverview",
    method: "get",
    path: "/v1/overview",
    tag: "runs",
    summary: "What waits for the caller, what needs a person, and the money of two weeks",
    query: z.object({ business: name.optional() }),
    responses: { 200: { description: "Today", schema: OverviewBody } },
    handle: async ({ query, principal, context }) => ({
      status: 200,
      json: await overviewOf(context, namedOrAll(context, query.business), principal),
    }),
  });

  routes.add({
    whose: "profiles",
    operationId: "listUnderWay",
    method: "get",
    path: "/v1/under-way",
    tag: "payables",
    summary:
      "The payments of runs' bills at the service: which can still be cancelled, and which can't",
    query: z.object({
      business: name.optional(),
      page: pageNumber,
      pageSize: pageSize(UNDER_WAY_MOST),
    }),
    responses: { 200: { description: "The nearest cut-off first", schema: UnderWayBody } },
    handle: async ({ query, principal, context }) => {
      const profiles = namedOrAll(context, query.business);
      const yours = await mayOf(context, profiles, principal);
      return { status: 200, json: { ...(await underWay(context, profiles, query)), yours } };
    },
  });
}

/**
 * Returns what the caller may do about payments under way. Approvers may stop, which can also
 * cancel; only operators may cancel without a stop.
 */
async function mayOf(
  context: GatewayContext,
  profiles: readonly BusinessProfile[],
  principal: Principal,
): Promise<UnderWay["yours"]> {
  const mayCancel = hasRole(principal, MAY.operate);
  const mayStop: string[] = [];
  for (const profile of profiles) {
    const isTheirs = mayCancel || hasRole(principal, await approverRoles(context, [profile]));
    if (isTheirs) mayStop.push(profile.name);
  }
  return { mayStop, mayCancel };
}
