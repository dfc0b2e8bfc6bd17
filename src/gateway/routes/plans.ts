import { randomUUID } from "node:crypto";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { planDryId } from "../../contracts/names.ts";
import { getDryPlan } from "../../store/dry-plans.ts";
import type { GatewayContext } from "../context.ts";
import { GatewayError } from "../http/errors.ts";
import { addRoute } from "../http/route.ts";
import { DryPlanBody } from "../http/schemas.ts";
import { businessOf, loadPlaybook, periodOf } from "../launch.ts";
import { runDryPlan } from "../temporal.ts";
import { date, MAY, name } from "./fields.ts";

/** Dry plans: the planning activity itself, on a worker, with nothing claimed or stored for paying. */
export function addPlanRoutes(app: OpenAPIHono, context: GatewayContext): void {
  addRoute(app, context, {
    method: "post",
    path: "/v1/plans",
    tag: "plans",
    summary: "What a launch would pay now, and why each bill is in or out",
    roles: MAY.launch,
    body: z.strictObject({ playbook: name, period: date.optional() }),
    responses: { 200: { description: "The plan; nothing was started", schema: DryPlanBody } },
    handle: async ({ body }) => {
      const { playbook } = await loadPlaybook(context, body.playbook);
      const profile = businessOf(context, playbook);
      const period = await periodOf(context, profile, playbook, body.period);
      const dryPlanId = planDryId(profile.name, playbook.name, randomUUID());
      await runDryPlan(context.temporal, {
        workflowId: dryPlanId,
        input: { business: profile.name, playbook: playbook.name, period, dryPlanId },
        timeoutMs: context.planTimeoutMs,
      });
      const plan = await getDryPlan(context.store.db, dryPlanId);
      if (plan === undefined) {
        throw new GatewayError(500, "plan_missing", "The planner ended without storing its plan.");
      }
      return { status: 200, json: plan };
    },
  });
}
