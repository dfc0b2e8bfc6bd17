import { z } from "zod";
import { businessNamed } from "../../actions/businesses.ts";
import { ServicePaymentsBody } from "../../api/service-payments.ts";
import { newYorkInstantMs } from "../../domain/clock/new-york.ts";
import { paymentsSince } from "../../reports/service-payments.ts";
import type { Routes } from "../http/route.ts";
import { date, name, pageNumber } from "./fields.ts";

const A_TIME = "must be a date, YYYY-MM-DD, or an ISO 8601 instant with its zone";

// The second form says it too: its mistake alone is shown if the first one isn't even a date.
const since = z.union([date, z.iso.datetime({ offset: true, error: A_TIME })], A_TIME);

/** Adds the service's payments, compared with the store: the check to make after a restore. */
export function addServicePaymentRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listPayments",
    method: "get",
    path: "/v1/payments",
    tag: "payables",
    summary: "The service's payments since a time, and which of them the store knows of",
    query: z.object({
      business: name.optional().describe("Needed only if several are configured"),
      since: since.describe("A day in New York, or an instant: payments that were made since"),
      page: pageNumber,
    }),
    responses: { 200: { description: "Newest first", schema: ServicePaymentsBody } },
    handle: async ({ query, context }) => {
      const where = "?business=, or --business on the command line";
      const profile = businessNamed(context, query.business, where);
      const isDay = date.safeParse(query.since).success;
      const sinceMs = isDay ? newYorkInstantMs(query.since, "00:00") : Date.parse(query.since);
      const { page } = query;
      return { status: 200, json: await paymentsSince(context, profile, { sinceMs, page }) };
    },
  });
}
