import { z } from "zod";
import { areAlone, CONFIRMED_ALONE } from "../../domain/approvals/changed-records.ts";
import { ENVELOPE_MAX_CHARS } from "../../domain/approvals/signed-decision.ts";
import type { DecisionRequest } from "../../decisions/deciding.ts";
import { decide, decideSigned } from "../../actions/decide.ts";
import { invalidField } from "../http/parts.ts";
import type { Routes } from "../http/route.ts";
import { whoseWorkflow } from "../http/scope.ts";
import { DecisionBody } from "../../api/schemas.ts";
import { idField, runParams, words } from "./fields.ts";

const decisionBody = z.strictObject({
  decision: z.enum(["approve", "reject"], "must be approve or reject").optional(),
  planHash: z.string("must be the planHash of the plan that was looked at").min(1).optional(),
  drop: z.array(idField).max(10_000).optional().describe("Payables to leave out"),
  comment: words.optional(),
  verifiedBankChanges: z
    .array(
      z.strictObject({
        contactId: idField,
        person: words.describe("Whom you spoke with"),
        phone: words.describe("On which number, known from before the change"),
      }),
    )
    .max(1_000)
    .optional()
    .describe("How you made sure that a vendor's changed bank account is the vendor's"),
  confirmedRecords: z
    .array(
      z.strictObject({
        contactId: idField,
        updatedAt: z.string().max(100).nullable().describe("Of the record, as the review shows it"),
      }),
    )
    .min(1)
    .max(10_000)
    .optional()
    .describe(
      "Vendors whose account is still right although their record was changed after the approval: answers only that, and is about no bill",
    ),
  topUpHash: z
    .string("must be the hash of the deposit that was looked at")
    .min(1)
    .optional()
    .describe("A deposit of the run (`topUps[].hash`): decides about it, and about no bill"),
  signed: z
    .string("must be a signed decision")
    .min(1)
    .max(ENVELOPE_MAX_CHARS)
    .optional()
    .describe("A signed decision in JWS compact form; nothing else beside it"),
});

/** Adds the operation that takes approvals and rejections. */
export function addDecisionRoutes(routes: Routes): void {
  routes.add({
    whose: whoseWorkflow,
    operationId: "decideRun",
    method: "post",
    path: "/v1/runs/{id}/decisions",
    tag: "runs",
    summary: "Approves or rejects a run's plan, line by line",
    description:
      "Needs a token with an approver's role of the playbook. Counts for the lines whose rule names one of its roles; 403, 409 and 422 say why a decision doesn't count. A decision that another system has signed (`signed`, JWS compact form) counts for the signer, whatever token delivers it.",
    params: runParams,
    body: decisionBody,
    responses: { 200: { description: "It counts; what is still missing", schema: DecisionBody } },
    handle: async ({ params, body, principal, context }) => ({
      status: 200,
      json: await (body.signed === undefined
        ? decide(context, params.id, requestOf(body), principal)
        : decideSigned(context, params.id, aloneIn(body, body.signed), principal)),
    }),
  });
}

type Body = z.output<typeof decisionBody>;

function requestOf(body: Body): DecisionRequest {
  const { decision, planHash, drop = [], comment } = body;
  const { verifiedBankChanges, confirmedRecords, topUpHash } = body;
  if (decision === undefined) throw invalidField("decision", "must be approve or reject");
  if (planHash === undefined) {
    throw invalidField("planHash", "must be the planHash of the plan that was looked at");
  }
  if (topUpHash !== undefined && drop.length > 0) {
    throw invalidField("drop", "goes with a decision about bills, and this one is about a deposit");
  }
  if (confirmedRecords !== undefined && !areAlone(body)) {
    throw invalidField("confirmedRecords", CONFIRMED_ALONE);
  }
  return { decision, planHash, drop, comment, verifiedBankChanges, confirmedRecords, topUpHash };
}

function aloneIn(body: Body, signed: string): string {
  const { signed: _, ...rest } = body;
  const others = Object.values(rest);
  if (others.every((other) => other === undefined)) return signed;
  throw invalidField("signed", "stands alone: the decision is in what was signed");
}
