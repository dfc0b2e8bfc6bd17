import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { ENVELOPE_MAX_CHARS } from "../../domain/approvals/signed-decision.ts";
import type { GatewayContext } from "../context.ts";
import { decide, decideSigned } from "../decisions.ts";
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
      "Needs a token with an approver's role of the playbook. Counts for the lines whose rule names one of its roles; 403, 409 and 422 say why a decision doesn't count. A decision that another system has signed (`signed`, JWS compact form) counts for the signer, whatever token delivers it.",
    params: runParams,
    body: z
      .strictObject({
        decision: z.enum(["approve", "reject"], "must be approve or reject").optional(),
        planHash: z.string("must be the planHash of the plan that was looked at").min(1).optional(),
        drop: z.array(id).max(10_000).optional().describe("Payables to leave out"),
        comment: words.optional(),
        signed: z
          .string("must be a signed decision")
          .min(1)
          .max(ENVELOPE_MAX_CHARS)
          .optional()
          .describe("A signed decision in JWS compact form; nothing else beside it"),
      })
      .transform((body, context) => {
        if (body.signed !== undefined) {
          if (Object.keys(body).length === 1) return { signed: body.signed };
          fault(context, "signed", "stands alone: the decision is in what was signed");
          return z.NEVER;
        }
        const { decision, planHash, drop = [], comment } = body;
        if (decision === undefined) fault(context, "decision", "must be approve or reject");
        if (planHash === undefined) {
          fault(context, "planHash", "must be the planHash of the plan that was looked at");
        }
        if (decision === undefined || planHash === undefined) return z.NEVER;
        return { signed: undefined, decision, planHash, drop, comment };
      }),
    responses: { 200: { description: "It counts; what is still missing", schema: DecisionBody } },
    handle: async ({ params, body, principal }) => ({
      status: 200,
      json: await (body.signed === undefined
        ? decide(context, params.id, body, principal)
        : decideSigned(context, params.id, body.signed, principal)),
    }),
  });
}

function fault(context: z.RefinementCtx, field: string, message: string): void {
  context.addIssue({ code: "custom", path: [field], message });
}
