import type { Principal } from "../../actions/principal.ts";
import { type Condition, ConditionListBody } from "../../api/conditions.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { conditionsOf } from "../../reports/conditions.ts";
import type { GatewayContext } from "../http/context.ts";
import type { Routes } from "../http/route.ts";

/** Adds the list of what needs attention, for `payrun status` and for monitoring. */
export function addConditionRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listConditions",
    method: "get",
    path: "/v1/conditions",
    tag: "system",
    summary:
      "What needs attention (workers, clocks, webhooks, notices, tokens), and what to do about it",
    description: "Administrators see everybody's tokens that end soon, others their own.",
    responses: { 200: { description: "None if all is well", schema: ConditionListBody } },
    handle: async ({ principal, context }) => {
      const items = await conditionsNow(context, principal);
      return { status: 200, json: { items } };
    },
  });
}

/** @param caller undefined if everything may be seen */
export async function conditionsNow(
  { store, storeProbe, profiles, sandboxesOnly, nowMs, keyIds, temporalSilence }: GatewayContext,
  caller?: Principal,
): Promise<Condition[]> {
  return conditionsOf({
    db: store.db,
    storeState: await storeProbe.state(),
    hasJustRecovered: storeProbe.hasJustRecovered,
    profiles: profiles.all(),
    sandboxesOnly: sandboxesOnly(),
    nowMs: nowMs(),
    keyIds,
    temporalSilentSinceMs: temporalSilence.sinceMs,
    ...definedOnly({ caller }),
  });
}
