import { ConditionListBody } from "../../api/conditions.ts";
import { conditionsOf } from "../../reports/conditions.ts";
import type { Routes } from "../http/route.ts";

/** Adds the list of what needs attention, for `payrun status` and for monitoring. */
export function addConditionRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "get",
    path: "/v1/conditions",
    tag: "system",
    summary:
      "What needs attention (workers, clocks, webhooks, notices, tokens), and what to do about it",
    description: "Administrators see everybody's tokens that end soon, others their own.",
    responses: { 200: { description: "None if all is well", schema: ConditionListBody } },
    handle: async ({ principal, context }) => {
      const items = await conditionsOf({
        db: context.store.db,
        profiles: context.profiles.all(),
        sandboxesOnly: context.sandboxesOnly(),
        nowMs: context.nowMs(),
        keyIds: context.keyIds,
        temporalSilentSinceMs: context.temporalSilence.sinceMs,
        caller: principal,
      });
      return { status: 200, json: { items } };
    },
  });
}
