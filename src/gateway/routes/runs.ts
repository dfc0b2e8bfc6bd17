import { z } from "zod";
import type { RunStatus } from "../../api/runs.ts";
import { KINDS_SHOWN } from "../../contracts/workflow-kinds.ts";
import { addDays } from "../../domain/clock/dates.ts";
import { newYorkInstantMs } from "../../domain/clock/new-york.ts";
import { getRun, requestCancel } from "../../store/runs/runs.ts";
import { bankCsv, bankDaysCsv } from "../../reports/bank-csv.ts";
import type { GatewayContext } from "../http/context.ts";
import { conflict, notFound, unprocessable } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { listedFor, whoseWorkflow } from "../http/scope.ts";
import { ReportBody } from "../../api/report.ts";
import { RunReviewBody } from "../../api/review.ts";
import { RunListBody } from "../../api/runs.ts";
import { launch } from "../../actions/launch/launch.ts";
import { type AnyStatus, AnyStatusBody } from "../../api/statuses.ts";
import { cancelOnboarding } from "../../actions/onboarding/cancel.ts";
import { reviewOf } from "../../reports/review/review.ts";
import { reportCsv, reportCsvOfStatus, reportOf, reportOfStatus } from "../../reports/report.ts";
import { anyStatus, LISTED_PHASES, listEverything } from "../../reports/every-kind.ts";
import { FIRST_PAGE, PAGE_MOST } from "../../reports/status/run.ts";
import { date, MAY, name, pageNumber, pageSize, runParams, words, yesNo } from "./fields.ts";

/** Entries on a page of the list: the usual number, and the most. */
const LIST_USUAL = 50;
const LIST_MOST = 500;

/** Adds the operations on runs: launch, list, show, cancel, report. */
export function addRunRoutes(routes: Routes): void {
  addLaunch(routes);
  addList(routes);
  addStatus(routes);
  addReview(routes);
  addCancel(routes);
  addReport(routes);
}

function addLaunch(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "launchRun",
    method: "post",
    path: "/v1/runs",
    tag: "runs",
    summary: "Launches a stored playbook, or joins the run of the same period",
    description:
      "A run that ended without a single bill doesn't use up its period: it is planned again. 409 `other_inputs`: the run of the period was launched with other inputs. 422 `not_a_period`: the schedule doesn't have the date.",
    roles: MAY.launch,
    body: z.strictObject({
      playbook: name,
      business: name.optional().describe("Needed only if several have such a playbook"),
      period: date.optional().describe("A date of the playbook's schedule, if it has one"),
      force: z
        .boolean()
        .optional()
        .describe("true: also for a date that the playbook's schedule doesn't have"),
      inputs: z.record(z.string().max(100), z.string().max(1_000)).optional(),
    }),
    responses: {
      201: { description: "Launched", schema: AnyStatusBody },
      200: { description: "Joined the run that was there", schema: AnyStatusBody },
    },
    handle: async ({ body, principal, context }) => {
      const { runId, created } = await launch(context, body, principal);
      return { status: created ? 201 : 200, json: await knownStatus(context, runId) };
    },
  });
}

function addList(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listRuns",
    method: "get",
    path: "/v1/runs",
    tag: "runs",
    summary: "Runs of every kind, and failed payments that wait for a person, newest first",
    description:
      "Filters add up. A kind without periods or playbooks is left out if these are asked for.",
    query: z.object({
      business: name.optional(),
      kind: z.enum(KINDS_SHOWN, `must be one of ${KINDS_SHOWN.join(", ")}`).optional(),
      playbook: name.optional(),
      period: date.optional(),
      phase: z.enum(LISTED_PHASES, `must be one of ${LISTED_PHASES.join(", ")}`).optional(),
      needsAction: yesNo
        .optional()
        .describe("true: only what waits for a person; false: only the rest"),
      from: date.optional().describe("First day of the launch, in New York"),
      to: date.optional().describe("Last day of the launch, in New York"),
      page: pageNumber,
      pageSize: pageSize(LIST_MOST, LIST_USUAL),
    }),
    responses: { 200: { description: "One page of them", schema: RunListBody } },
    handle: async ({ query, context }) => {
      const { business, from, to, ...asked } = query;
      if (from !== undefined && to !== undefined && from > to) {
        throw unprocessable("bad_period", `It ends before it begins: from ${from} to ${to}.`);
      }
      const launched = {
        fromMs: from === undefined ? undefined : newYorkInstantMs(from, "00:00"),
        beforeMs: to === undefined ? undefined : newYorkInstantMs(addDays(to, 1), "00:00"),
      };
      const businessIds = listedFor(context, business);
      const json = await listEverything(context, businessIds, { ...asked, ...launched });
      return { status: 200, json };
    },
  });
}

function addStatus(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "getRun",
    method: "get",
    path: "/v1/runs/{id}",
    tag: "runs",
    summary: "A run, cancellation, onboarding, incident or failed payment, from the store",
    params: runParams,
    query: z.object({
      skipped: yesNo
        .default(true)
        .describe("false: without the bills that the plan left out, for callers who ask often"),
      page: pageNumber,
      pageSize: pageSize(PAGE_MOST),
    }),
    responses: { 200: { description: "As `payrun status --json`", schema: AnyStatusBody } },
    handle: async ({ params, query, context }) => ({
      status: 200,
      json: await knownStatus(context, params.id, query),
    }),
  });
}

function addReview(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "getRunReview",
    method: "get",
    path: "/v1/runs/{id}/review",
    tag: "runs",
    summary: "What an approver needs to see of a pay run, and what their approval would do",
    description:
      "For everyone who may read; `yours` is about the caller's token. Odd and late bills are named up to 25 each.",
    params: runParams,
    query: z.object({
      page: pageNumber,
      pageSize: pageSize(PAGE_MOST),
      drop: z
        .string()
        .max(30_000)
        .optional()
        .describe(
          "Payables that you would leave out, separated by commas: `yours` is without them",
        ),
    }),
    responses: { 200: { description: "As `payrun show --json`", schema: RunReviewBody } },
    handle: async ({ params, query, principal, context }) => {
      const run = await getRun(context.store.db, params.id);
      if (run === undefined) {
        const { kind } = await knownStatus(context, params.id);
        const message = `“${params.id}” is not a pay run (${kind}): nothing of it is approved bill by bill.`;
        throw unprocessable("no_pay_run", message);
      }
      const { drop = "", ...page } = query;
      const asked = { ...page, drop: new Set(drop.split(",")) };
      return { status: 200, json: await reviewOf(context, run, principal, asked) };
    },
  });
}

function addCancel(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "cancelRun",
    method: "post",
    path: "/v1/runs/{id}/cancel",
    tag: "runs",
    summary: "Stops paying; what was sent is followed to its end. Ends an onboarding",
    roles: MAY.operate,
    params: runParams,
    body: z.strictObject({ reason: words.optional() }),
    responses: {
      200: {
        description: "The run, from now on being cancelled, or the onboarding that ended",
        schema: AnyStatusBody,
      },
    },
    handle: async ({ params, body, principal, context }) => {
      const by = { by: principal.name, reason: body.reason };
      if (await cancelOnboarding(context, params.id, by)) {
        return { status: 200, json: await knownStatus(context, params.id) };
      }
      const known = await getRun(context.store.db, params.id);
      if (known === undefined) throw unknownRun(params.id);
      await context.store.transactionOf(known.businessId, async (trx) => {
        const nowMs = context.nowMs();
        const reason = body.reason ?? null;
        const outcome = await requestCancel(trx, params.id, principal.name, nowMs, reason);
        const run = await getRun(trx, params.id);
        if (run === undefined || outcome === "unknown") throw unknownRun(params.id);
        if (outcome === "already" || run.phase === "cancelled") return;
        if (outcome === "ended") {
          throw conflict("run_ended", `The run has ended (${run.phase}); nothing is left to stop.`);
        }
      });
      return { status: 200, json: await knownStatus(context, params.id) };
    },
  });
}

const REPORT_FORMATS = ["json", "csv", "bank-csv", "bank-days"] as const;

function withoutReport({ id, kind }: AnyStatus): Error {
  const message = `“${id}” is not a pay run (${kind}) and has no report: its status says what happened to it.`;
  return unprocessable("no_pay_run", message);
}

function withoutBankTable({ id, kind }: RunStatus): Error {
  const message = `“${id}” is not a pay run (${kind}); its payments are in the bank table of the run that its bill belongs to.`;
  return unprocessable("no_bank_table", message);
}

function addReport(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "getRunReport",
    method: "get",
    path: "/v1/runs/{id}/report",
    tag: "runs",
    summary: "The results of a run: every bill in one state, exceptions with their reason",
    params: runParams,
    query: z.object({
      format: z
        .enum(REPORT_FORMATS, `must be one of ${REPORT_FORMATS.join(", ")}`)
        .default("json")
        .describe(
          "bank-csv: one row per line on the statements of its accounts, read from the service; bank-days: their sums per account and day",
        ),
    }),
    responses: {
      200: { description: "The report; `format=csv` for a table", schema: ReportBody, csv: true },
    },
    handle: async ({ params, query, context }) => {
      const isJson = query.format === "json";
      const contentType = "text/csv; charset=utf-8";
      const run = await getRun(context.store.db, params.id);
      if (run === undefined) {
        const status = await knownStatus(context, params.id);
        if (status.kind !== "pay-run" && status.kind !== "retry-failed-payment")
          throw withoutReport(status);
        if (query.format.startsWith("bank-")) throw withoutBankTable(status);
        if (isJson) return { status: 200, json: reportOfStatus(status) };
        return { status: 200, text: reportCsvOfStatus(status), contentType };
      }
      if (isJson) return { status: 200, json: await reportOf(context, run) };
      if (query.format === "bank-csv") {
        return { status: 200, stream: await bankCsv(context, run), contentType };
      }
      if (query.format === "bank-days") {
        return { status: 200, text: await bankDaysCsv(context, run), contentType };
      }
      return { status: 200, stream: reportCsv(context, run), contentType };
    },
  });
}

async function knownStatus(
  context: GatewayContext,
  id: string,
  page = FIRST_PAGE,
): Promise<AnyStatus> {
  const status = await anyStatus(context, id, page);
  if (status === undefined) throw unknownRun(id);
  return status;
}

function unknownRun(runId: string): Error {
  return notFound(`There is no run “${runId}”; “payrun status” lists them.`);
}
