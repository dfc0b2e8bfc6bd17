import { z } from "zod";
import { cancelOfPayments, requestOfPayments } from "../../domain/cancellations/policy.ts";
import { requestCancellation } from "../../actions/launch/request-cancellation.ts";
import { cancellationStatus } from "../../reports/status/cancellation.ts";
import { notFound } from "../../actions/errors.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";
import type { Routes } from "../http/route.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { idField, MAY, name } from "./fields.ts";

/** Most payments that one request may name. */
const PAYMENTS_MAX = 1_000;

/** Adds the operation that cancels payments that the service has scheduled or holds. */
export function addCancellationRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "cancelPayments",
    method: "post",
    path: "/v1/cancellations",
    tag: "cancellations",
    summary: "Cancels scheduled or held payments; each bill goes on hold first",
    description:
      "The same payments join the request that is under way. GET /v1/runs/{id} says what happened to each.",
    roles: MAY.operate,
    body: z.strictObject({
      payments: z
        .array(idField)
        .min(1, "must name a payment")
        .max(PAYMENTS_MAX, "must be at most 1,000"),
      reason: z
        .string()
        .trim()
        .min(1, "must not be empty")
        .max(500, "must be at most 500 characters")
        .optional(),
      business: name.optional(),
    }),
    responses: {
      201: { description: "Being cancelled", schema: CancellationStatusBody },
      200: { description: "Joined the request that was there", schema: CancellationStatusBody },
    },
    handle: async ({ body, principal, context }) => {
      const profile = businessNamed(context, body.business, "add “business” to the request");
      const payments = [...new Set(body.payments)];
      const { runId, created } = await requestCancellation(context, {
        profile,
        request: requestOfPayments(payments),
        playbook: "",
        policy: cancelOfPayments(payments),
        runId: null,
        reason: body.reason ?? `cancelled by ${principal.name}`,
        by: principal.name,
      });
      const status = await cancellationStatus(context, runId);
      if (status === undefined) throw notFound(`There is no cancellation “${runId}”.`);
      return { status: created ? 201 : 200, json: status };
    },
  });
}
