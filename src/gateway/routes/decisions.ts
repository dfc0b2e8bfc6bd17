import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import type { GatewayContext } from "../context.ts";
import { decide } from "../decisions.ts";
import { addRoute } from "../http/route.ts";
import { DecisionBody } from "../http/schemas.ts";
import { id, runParams, words } from "./fields.ts";

/** Approvals and rejections. */
export function addDecisionRoutes(app: OpenAPIHono, context: GatewayContext): void {
  addRoute(app, context, {
    method: "post",
    path: "/v1/runs/{id}/decisions",
    tag: "runs",
    summary: "Approves or rejects a run's plan, line by line",
    description:
      "Needs a token with an approver's role of the playbook. Counts for the lines whose rule names one of its roles; 403, 409 and 422 say why a decision doesn't count.",
    params: runParams,
    body: z.strictObject({
      decision: z.enum(["approve", "reject"], "must be approve or reject"),
      planHash: z.string("must be the planHash of the plan that was looked at").min(1),
      drop: z.array(id).max(10_000).default([]).describe("Payables to leave out"),
      comment: words.optional(),
    }),
    responses: { 200: { description: "It counts; what is still missing", schema: DecisionBody } },
    handle: async ({ params, body, principal }) => ({
      status: 200,
      json: await decide(context, params.id, body, principal),
    }),
  });
}
