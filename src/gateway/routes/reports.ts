import { z } from "zod";
import { PeriodReportBody } from "../../api/period-report.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { unprocessable } from "../../actions/errors.ts";
import { periodCsv, periodReport } from "../../reports/period-report.ts";
import type { Routes } from "../http/route.ts";
import { date, name } from "./fields.ts";

/** Adds the report on what a business's runs have moved within some days, for its books. */
export function addReportRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getPeriodReport",
    method: "get",
    path: "/v1/reports",
    tag: "runs",
    summary: "The money that a business's runs moved within some days, by vendor, account and day",
    description:
      "Sums of the statement lines of all its runs, read from the service. Days are New York's, and both are included.",
    query: z.object({
      business: name.optional().describe("Needed only if several are configured"),
      from: date.describe("First day"),
      to: date.describe("Last day"),
      format: z
        .enum(["json", "csv"], "must be json or csv")
        .default("json")
        .describe("csv: a row per day, account and vendor"),
    }),
    responses: { 200: { description: "The sums", schema: PeriodReportBody, csv: true } },
    handle: async ({ query, context }) => {
      const { business, format, ...days } = query;
      if (days.from > days.to) {
        const message = `It ends before it begins: from ${days.from} to ${days.to}.`;
        throw unprocessable("bad_period", message);
      }
      const where = "?business=, or --business on the command line";
      const profile = businessNamed(context, business, where);
      if (format === "json") {
        return { status: 200, json: await periodReport(context, profile, days) };
      }
      const text = await periodCsv(context, profile, days);
      return { status: 200, text, contentType: "text/csv; charset=utf-8" };
    },
  });
}
