import { z } from "zod";
import { notFound } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { RunStatusBody } from "../../api/runs.ts";
import { payOffCycle } from "../../actions/launch/off-cycle.ts";
import { PAGE_MOST, statusOf } from "../../reports/status/run.ts";
import { idField, MAY, name } from "./fields.ts";

/** Adds the launch of payments outside a schedule. */
export function addOffCycleRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "payOffCycle",
    method: "post",
    path: "/v1/off-cycle",
    tag: "runs",
    summary: "Launches a run for the named bills, under a playbook's approvals and limits",
    roles: MAY.launch,
    body: z.strictObject({
      payables: z.array(idField).min(1, "must name a bill").max(1_000),
      amountCents: z
        .number("must be an amount in cents")
        .int()
        .min(1)
        .optional()
        .describe("Pays only this much of the one bill that is named"),
      playbook: name.optional().describe("Needed only if several pay-run playbooks are stored"),
      business: name.optional().describe("Needed only if several have such a playbook"),
      ref: z
        .string()
        .max(200)
        .optional()
        .describe("Makes a request like another one of the same day a payment of its own"),
    }),
    responses: {
      201: { description: "Launched", schema: RunStatusBody },
      200: { description: "The same was requested earlier today: that run", schema: RunStatusBody },
    },
    handle: async ({ body, principal, context }) => {
      const { payables, amountCents = null, playbook, business, ref } = body;
      const request = { payableIds: payables, amountCents, playbook, business, ref };
      const { runId, created } = await payOffCycle(context, request, principal);
      const status = await statusOf(context, runId, {
        page: 1,
        pageSize: PAGE_MOST,
        skipped: true,
      });
      if (status === undefined) throw notFound(`There is no run “${runId}” any more.`);
      return { status: created ? 201 : 200, json: status };
    },
  });
}
