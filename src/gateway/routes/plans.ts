import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { planDryId } from "../../contracts/workflow-kinds.ts";
import type { PayRunPlaybook, Playbook } from "../../contracts/playbook.ts";
import { askForDryPlan, getDryPlanPage } from "../../store/plans/dry-plans.ts";
import { getPlaybook } from "../../store/playbooks/playbooks.ts";
import { GatewayError, notFound, unprocessable } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { type ScopedContext, whoseWorkflow } from "../http/scope.ts";
import { DryPlanBody } from "../../api/runs.ts";
import { businessNamed, ownedPlaybook } from "../../actions/businesses.ts";
import { periodOf } from "../../actions/launch/pay-run.ts";
import { PlanChangesBody } from "../../api/plan-changes.ts";
import { planChangesSince } from "../../reports/plan-changes.ts";
import { getRun, joinedRun } from "../../store/runs/runs.ts";
import { nobodyApproves } from "../../reports/approver-conditions.ts";
import { zoneOf } from "../../reports/moment.ts";
import { planAnswer } from "../../reports/plan-answer.ts";
import { findPlaybook } from "../../actions/playbooks/playbooks.ts";
import { readPlaybookText } from "../../actions/playbooks/playbook-text.ts";
import { PAGE_MOST } from "../../reports/status/run.ts";
import { runDryPlan } from "../../actions/temporal.ts";
import { date, idField, MAY, name, pageNumber, pageSize, runParams } from "./fields.ts";

/**
 * Adds dry plans, which run the planning activity itself on a worker and claim or store nothing for
 * paying, and the reading of plans.
 */
export function addPlanRoutes(routes: Routes): void {
  addPlanning(routes);
  addPages(routes);
  addChanges(routes);
}

function addChanges(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "getPlanChanges",
    method: "get",
    path: "/v1/runs/{id}/plan-changes",
    tag: "runs",
    summary: "What has changed in a run's plan since a person looked at it",
    params: runParams,
    query: z.object({ since: idField.describe("`planHash` of the plan that was looked at") }),
    responses: { 200: { description: "Bills that were planned anew", schema: PlanChangesBody } },
    handle: async ({ params, query, context }) => {
      const { db } = context.store;
      const run = await getRun(db, params.id);
      const changes = run === undefined ? undefined : await planChangesSince(db, run, query.since);
      if (changes === undefined) {
        throw notFound(`No run “${params.id}” ever had a plan with the hash ${query.since}.`);
      }
      return { status: 200, json: changes };
    },
  });
}

function addPlanning(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "planRun",
    method: "post",
    path: "/v1/plans",
    refuses: [504],
    tag: "plans",
    summary: "What a launch would pay now, and why each bill is in or out",
    changesNothing: true,
    roles: MAY.launch,
    body: z.strictObject({
      playbook: name,
      business: name.optional().describe("Needed only if several have such a playbook"),
      period: date.optional(),
      text: z
        .string()
        .min(1, "must not be empty")
        .optional()
        .describe("A playbook's text to plan with instead of the stored one; it is not stored"),
      pageSize: z
        .int()
        .min(1)
        .max(PAGE_MOST)
        .default(PAGE_MOST)
        .describe("Bills in the answer; `nextPage` says if there are more"),
    }),
    responses: { 200: { description: "The plan; nothing was started", schema: DryPlanBody } },
    handle: async ({ body, context }) => {
      const { profile, playbook, unstored } = await playbookToPlan(context, body);
      const period = await periodOf(context, profile, playbook, body.period);
      const dryPlanId = planDryId(profile.name, playbook.name, randomUUID());
      const asked = { business: profile.name, playbook: playbook.name, period, ...unstored };
      await askForDryPlan(context.store.db, dryPlanId, asked, context.nowMs());
      await runDryPlan(context.temporal, {
        workflowId: dryPlanId,
        input: { dryPlanId },
        timeoutMs: context.planTimeoutMs,
      });
      const first = { page: 1, pageSize: body.pageSize };
      const plan = await getDryPlanPage(context.store.db, dryPlanId, first);
      if (plan === undefined) {
        throw new GatewayError("plan_missing", "The planner ended without storing its plan.");
      }
      const { businessId } = profile;
      const launch = { businessId, playbook: playbook.name, period, policy: playbook };
      const joins = await joinedRun(context.store.db, launch);
      const judging = {
        db: context.store.db,
        nowMs: context.nowMs(),
        sandboxesOnly: context.sandboxesOnly(),
      };
      const warnings = await nobodyApproves(judging, profile, { name: playbook.name, playbook });
      const told = { zone: zoneOf(context, profile.name), warnings, joins: joins?.runId };
      return { status: 200, json: planAnswer(plan, told) };
    },
  });
}

function addPages(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "getPlan",
    method: "get",
    path: "/v1/plans/{id}",
    tag: "plans",
    summary: "Another page of a dry plan, for a day",
    roles: MAY.launch,
    params: z.object({ id: idField.describe("`planId` of the plan, URL-encoded") }),
    query: z.object({ page: pageNumber, pageSize: pageSize(PAGE_MOST) }),
    responses: { 200: { description: "The page", schema: DryPlanBody } },
    handle: async ({ params, query, context }) => {
      const plan = await getDryPlanPage(context.store.db, params.id, query);
      if (plan === undefined) {
        throw notFound(`There is no plan “${params.id}” (any more): POST /v1/plans makes one.`);
      }
      return { status: 200, json: planAnswer(plan, { zone: zoneOf(context, plan.business) }) };
    },
  });
}

/**
 * Returns the stored playbook, or the one that a text describes with the revision that it would
 * become.
 */
async function playbookToPlan(
  context: ScopedContext,
  asked: {
    readonly playbook: string;
    readonly business?: string | undefined;
    readonly text?: string | undefined;
  },
): Promise<{
  profile: BusinessProfile;
  playbook: PayRunPlaybook;
  unstored: { readonly unstored?: { policy: PayRunPlaybook; revision: number } };
}> {
  const { playbook: planned, text } = asked;
  if (text === undefined) {
    const stored = await findPlaybook(context, { name: planned, business: asked.business });
    const profile = businessNamed(context, stored.business, "");
    return { profile, playbook: thatPays(stored.compiled), unstored: {} };
  }
  const { profile, playbook: read } = ownedPlaybook(context, readPlaybookText(planned, text));
  const playbook = thatPays(read);
  const stored = await getPlaybook(context.store.db, { business: profile.name, name: planned });
  if (stored?.text === text) return { profile, playbook, unstored: {} };
  const revision = (stored?.revision ?? 0) + 1;
  return { profile, playbook, unstored: { unstored: { policy: playbook, revision } } };
}

/** @throws GatewayError 422 if the playbook pays no bills */
function thatPays(playbook: Playbook): PayRunPlaybook {
  if (playbook.kind === "pay-run") return playbook;
  throw unprocessable(
    "nothing_to_plan",
    `The playbook “${playbook.name}” is of kind ${playbook.kind} and pays no bills: there is nothing to plan.`,
  );
}
