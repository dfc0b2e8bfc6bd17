import { PAYABLE_RESOLVED } from "../../domain/facts/retries.ts";
import { record } from "../../store/facts/record.ts";
import type { Transaction } from "kysely";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { retryFailedPaymentId } from "../../contracts/workflow-kinds.ts";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { closeByPerson } from "../../ledger/close-by-person.ts";
import {
  claimOwners,
  claimPayables,
  handOverClaim,
  releaseClaim,
} from "../../store/payables/claims.ts";
import { createHold, releaseFailureHoldsOf } from "../../store/holds/holds.ts";
import { GIVEN_BACK } from "../../domain/runs/given-back.ts";
import { overLimitText } from "../../domain/planning/ways-out.ts";
import { decidersUnder } from "../../domain/retries/deciders.ts";
import type { LineParts } from "../../domain/payments/line-parts.ts";
import { NEXT_RUN_ASKS, NO_APPROVAL, partOwedText } from "../../domain/retries/approval.ts";
import { lineApproved } from "../../store/approvals/line-approvals.ts";
import { currentOf, linesOfPayable } from "../../store/lines/payable-history.ts";
import type { Db, Tables } from "../../store/index.ts";
import { changeLine, planLineOf, type RunLine } from "../../store/lines/lines.ts";
import { linesWithParts } from "../../store/payables/line-parts.ts";
import { givenBackIn } from "../../store/lines/parked-lines.ts";
import { requestRetry } from "../../store/retries/retries.ts";
import { getRetryCase } from "../../store/lines/retry-cases.ts";
import { moveSubscription } from "../../store/payables/subscriptions.ts";
import type { ActionContext } from "../context.ts";
import { holdsNow } from "../holds/holds-now.ts";
import { type Principal, requireRole } from "../principal.ts";
import { conflict, GatewayError, notFound } from "../errors.ts";
import { signalRetry } from "../temporal.ts";
import { type EndedByPerson } from "../../domain/holds.ts";

export type ResolutionAction = "retry" | "paid-elsewhere" | "give-up";

export interface ResolutionRequest {
  readonly payableId: string;
  readonly action: ResolutionAction;
  readonly reason: string;
}

export interface Resolution {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly contactName: string | null;
  readonly amountCents: number;
  readonly parts?: LineParts;
  readonly business: string;
  readonly action: ResolutionAction;
  readonly runId: string;
  readonly state: LineState;
  readonly workflowId?: string;
  readonly holdId?: string;
  /**
   * Why a retry can't be paid under its approval: the next run plans the bill and asks for another.
   */
  readonly approvalEnded?: string;
  /** For a retry: the holds that apply to it, if any do. */
  readonly onHold?: readonly string[];
}

const END_STATES = { "paid-elsewhere": "paid-elsewhere", "give-up": "given-up" } as const;

const ENDED_FOR = { "paid-elsewhere": "paid_elsewhere", "given-up": "given_up" } as const;

/**
 * Carries out a person's decision about a parked bill.
 *
 * `retry` hands the bill to its own workflow, which checks the facts before it pays anything.
 * `paid-elsewhere` and `give-up` end it, with a hold without end, because the next run would pay it
 * otherwise.
 *
 * @throws GatewayError 403 if the playbook lets only other roles decide, 404 for an unknown bill,
 * 409 if it is not parked, may just have been paid, or is to be retried without a valid approval or
 * after it was given back
 */
export async function resolve(
  context: ActionContext,
  profile: BusinessProfile,
  request: ResolutionRequest,
  by: Principal,
): Promise<Resolution> {
  const { businessMs } = await context.clocks.read(profile);
  const carryOut = async (trx: Transaction<Tables>): Promise<Resolution> => {
    const line = await parkedLine(trx, profile, request.payableId);
    const [{ parts } = { parts: undefined }] = await linesWithParts(trx, line.businessId, [line]);
    const plan = await planLineOf(trx, line);
    const resolving = { profile, request, by, parts, line, plan };
    if (request.action !== "retry") {
      return end(context, trx, resolving, END_STATES[request.action]);
    }
    await requireDecider(trx, line, by);
    await requireNotGivenBack(trx, line, businessMs);
    const unapproved = await unapprovedText(trx, profile, line, businessMs);
    const why = unapproved ?? (parts === undefined ? null : partOwedText(parts.openCents));
    const retried = await retry(context, trx, resolving);
    await liftFailureHolds(context, trx, resolving, businessMs);
    const resolution = why === null ? retried : { approvalEnded: why, ...retried };
    const isGivenBack = resolution.approvalEnded !== undefined;
    const onHold = await holdsNow(trx, line, { businessMs, isGivenBack });
    return onHold.length === 0 ? resolution : { ...resolution, onHold };
  };
  const { businessId } = profile;
  const part = request.payableId;
  const resolution = await context.store.transactionOf(businessId, carryOut, { part });
  if (resolution.workflowId === undefined) {
    return resolution;
  }
  await signalRetry(context.temporal, profile.name, request.payableId).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || error.status !== 503) throw error;
    throw new GatewayError(
      error.code,
      "The retry is recorded, but Temporal can't be reached to start it: resolve again once it can.",
    );
  });
  return resolution;
}

interface Resolving {
  readonly profile: BusinessProfile;
  readonly request: ResolutionRequest;
  readonly by: Principal;
  readonly parts: LineParts | undefined;
  readonly line: RunLine;
  readonly plan: Pick<PlanLine, "publicId" | "contactName">;
}

/** Returns the number and the vendor of a bill that a run has planned. */
export async function nameOfPlanned(db: Db, businessId: string, payableId: string) {
  const line = currentOf(await linesOfPayable(db, businessId, payableId));
  if (line === undefined) return { publicId: null, contactName: null };
  const { publicId, contactName } = await planLineOf(db, line);
  return { publicId, contactName };
}

async function parkedLine(
  trx: Transaction<Tables>,
  profile: BusinessProfile,
  payableId: string,
): Promise<RunLine> {
  const line = currentOf(await linesOfPayable(trx, profile.businessId, payableId));
  if (line === undefined) {
    throw notFound(`No run of ${profile.name} has a payable “${payableId}”.`);
  }
  if (line.state !== "parked") {
    const { publicId } = await planLineOf(trx, line);
    const name = publicId ?? payableId;
    const wayOut =
      line.state === "retrying"
        ? ` If it was paid elsewhere, record that at the service, where Payrun looks before it pays; until then payrun hold ${name} puts it on hold.`
        : "";
    throw conflict(
      "not_parked",
      `Only a parked bill can be resolved; this one is ${line.state} in ${line.runId}. payrun explain ${name} says how it stands, and what it waits for.${wayOut}`,
      { payableId, state: line.state, runId: line.runId },
    );
  }
  return line;
}

/**
 * If a playbook's rule put the vendor on hold, the rule also says who decides that the vendor is paid
 * again.
 */
async function requireDecider(
  trx: Transaction<Tables>,
  { businessId, payableId }: RunLine,
  by: Principal,
): Promise<void> {
  const kept = await getRetryCase(trx, businessId, payableId);
  if (kept?.rule.action === "hold-vendor") requireRole(by, decidersUnder(kept.rule));
}

/** A bill is given back only once: another retry would change nothing. */
async function requireNotGivenBack(
  trx: Transaction<Tables>,
  line: RunLine,
  businessMs: number,
): Promise<void> {
  const { payableId, runId } = line;
  if ((await givenBackIn(trx, { runId, payableId })).size === 0) return;
  const onHold = await holdsNow(trx, line, { businessMs, isGivenBack: true });
  throw conflict(
    "given_back",
    [`It was given back already: ${NEXT_RUN_ASKS}.`, ...onHold].join(" "),
    { payableId, state: GIVEN_BACK, runId },
  );
}

/**
 * Returns why a line is no longer approved; null if it is. Its retry then gives it back to the next
 * run, which asks for approval. A line that no retry owns needs nothing to give it back, because
 * the next run plans it anyway: trying it again is then refused.
 */
async function unapprovedText(
  trx: Transaction<Tables>,
  profile: BusinessProfile,
  line: RunLine,
  businessNowMs: number,
): Promise<string | null> {
  if (await lineApproved(trx, line, businessNowMs)) return null;
  const { businessId, payableId } = line;
  const owner = (await claimOwners(trx, businessId, [payableId])).get(payableId);
  if (owner === retryFailedPaymentId(profile.name, payableId)) return NO_APPROVAL;
  const { publicId } = await planLineOf(trx, line);
  const limited = overLimitText(line.reasonCode, publicId ?? payableId);
  throw conflict(
    "not_approved",
    `It has no valid approval, so it can't be retried${limited === undefined ? "; the next run plans it anew and asks." : `. ${limited}`}`,
    { payableId, state: line.state, runId: line.runId },
  );
}

/**
 * Lifts the hold that the bill's failure has set on its vendor or on itself, before the answer says which holds
 * are in force.
 */
function liftFailureHolds(
  { nowMs }: Pick<ActionContext, "nowMs">,
  trx: Transaction<Tables>,
  { profile, by, line }: Resolving,
  businessMs: number,
): Promise<void> {
  const { businessId, payableId } = line;
  const workflowId = retryFailedPaymentId(profile.name, payableId);
  const moment = { businessMs, nowMs: nowMs(), by: by.name };
  return releaseFailureHoldsOf(trx, { businessId, workflowId }, moment);
}

async function retry(
  context: ActionContext,
  trx: Transaction<Tables>,
  resolving: Resolving,
): Promise<Resolution> {
  const { profile, request, by, line } = resolving;
  const workflowId = retryFailedPaymentId(profile.name, request.payableId);
  const { businessId } = profile;
  const { payableId } = line;
  // A run keeps a bill that it parked while the run goes on, or while an attempt has no final
  // answer.
  await handOverClaim(trx, { businessId, payableId, from: line.runId, to: workflowId });
  const claim = { businessId, payableIds: [payableId], owner: workflowId, nowMs: context.nowMs() };
  const [other] = (await claimPayables(trx, claim)).refused;
  if (other !== undefined) {
    throw conflict(
      "owned_elsewhere",
      `It is being planned or paid by ${other.owner}, so it is not retried as well.`,
      { payableId, owner: other.owner },
    );
  }
  await moveSubscription(trx, { businessId, payableId, owner: workflowId });
  const { approvalEnded } = await requestRetry(trx, {
    businessId: profile.businessId,
    payableId: request.payableId,
    business: profile.name,
    workflowId,
    runId: line.runId,
    by: by.name,
    nowMs: context.nowMs(),
  });
  await audit(context, trx, resolving, { workflowId });
  const resolution = { ...named(resolving), state: line.state, workflowId };
  return approvalEnded === null ? resolution : { ...resolution, approvalEnded };
}

async function end(
  context: ActionContext,
  trx: Transaction<Tables>,
  resolving: Resolving,
  state: EndedByPerson,
): Promise<Resolution> {
  const { profile, request, by, line } = resolving;
  const { businessId } = profile;
  const { payableId } = request;
  if (!(await closeByPerson(trx, businessId, payableId, profile))) {
    throw conflict(
      "attempt_live",
      "A request may still pay it: its effect is not known yet. Payrun looks until it is; try again then.",
      { payableId, runId: line.runId },
    );
  }
  const hold = await createHold(trx, {
    businessId,
    scope: "payable",
    value: payableId,
    reason: `${state === "given-up" ? "Given up" : "Paid elsewhere"}: ${request.reason}`,
    author: by.name,
    nowMs: context.nowMs(),
  });
  await changeLine(
    trx,
    line,
    { state, reasonCode: ENDED_FOR[state], reason: request.reason },
    context.nowMs(),
    { from: ["parked"] },
  );
  const owner = (await claimOwners(trx, businessId, [payableId])).get(payableId);
  const mine = [line.runId, retryFailedPaymentId(profile.name, payableId)];
  if (owner !== undefined && mine.includes(owner)) {
    await releaseClaim(trx, { businessId, payableId, owner });
  }
  await audit(context, trx, resolving, { holdId: hold.holdId, state });
  return { ...named(resolving), state, holdId: hold.holdId };
}

function named({ profile, request, line, parts, plan }: Resolving) {
  return {
    payableId: request.payableId,
    publicId: plan.publicId,
    contactName: plan.contactName,
    amountCents: line.amountCents,
    ...definedOnly({ parts }),
    business: profile.name,
    action: request.action,
    runId: line.runId,
  };
}

async function audit(
  context: ActionContext,
  trx: Transaction<Tables>,
  { profile, request, by, line }: Resolving,
  details: { readonly workflowId: string } | { readonly holdId: string; readonly state: string },
): Promise<void> {
  const { name, businessId } = profile;
  const { action, payableId: subject, reason } = request;
  const { runId } = line;
  const head = { businessId, nowMs: context.nowMs(), by: by.name, subject };
  const retryId = retryFailedPaymentId(name, subject);
  await record(trx, PAYABLE_RESOLVED[action](head, { runId, reason, ...details }, { retryId }));
}
