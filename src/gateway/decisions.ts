import type { Transaction } from "kysely";
import { ENDED_PHASES, type LineState } from "../contracts/pay-run.ts";
import { judgeDecision, principalOf, type DecisionVerdict } from "../domain/approvals/policy.ts";
import type { ClockReading } from "../business/clock.ts";
import { appendAudit } from "../store/audit.ts";
import { decidableLines, missingApprovals, type WaitingLines } from "../store/decidable-lines.ts";
import { decisionsOfRun, recordDecision, type Decision } from "../store/decisions.ts";
import type { Tables } from "../store/index.ts";
import { getPlaybook } from "../store/playbooks.ts";
import { getRun, type Run } from "../store/runs.ts";
import { tokensCreatedBy } from "../store/tokens.ts";
import type { GatewayContext } from "./context.ts";
import type { Principal } from "./http/auth.ts";
import { GatewayError, notFound } from "./http/errors.ts";
import { businessNamed } from "./launch.ts";
import { tellToLook } from "./tell.ts";

export interface DecisionRequest {
  readonly decision: "approve" | "reject";
  readonly planHash: string;
  readonly drop: readonly string[];
  readonly comment?: string | undefined;
}

export interface DecisionAnswer {
  readonly accepted: true;
  readonly decision: "approve" | "reject";
  readonly countsFor: readonly string[];
  readonly dropped: readonly string[];
  readonly missing: readonly WaitingLines[];
}

type Refusal = Extract<DecisionVerdict, { accepted: false }>;

const ACTIONS = { approve: "run.approved", reject: "run.rejected" } as const;

/** A decision that was taken before is not refused because its work has been done meanwhile. */
const DONE_SINCE: readonly Refusal["code"][] = ["nothing-left", "run-ended"];

/** States in which a line can still be approved or left out. */
const DECIDABLE: readonly LineState[] = ["awaiting-approval", "planned", "on-hold"];

const DAY_MS = 86_400_000;

/** However fast a sandbox's clock runs, an approval outlives this much real time. */
const SHORTEST_APPROVAL_MS = 60_000;

/**
 * Judges and stores a decision on a run, refused ones too, and tells the run to look.
 *
 * Deciding the same twice is one decision.
 *
 * @throws GatewayError with the reason of a refusal: 403 where the person may not, 409 where the
 * plan or run has moved on, 422 where the decision itself can't be meant
 */
export async function decide(
  context: GatewayContext,
  runId: string,
  request: DecisionRequest,
  principal: Principal,
): Promise<DecisionAnswer> {
  const known = await getRun(context.store.db, runId);
  if (known === undefined) throw notFound(`There is no run “${runId}”; GET /v1/runs lists them.`);
  const clock = await context.clocks.read(businessNamed(context, known.business, ""));
  const outcome = await context.store.transaction((trx) =>
    judgeAndRecord(context, trx, { runId, request, principal, clock }),
  );
  context.metrics.decisions.inc({ outcome: outcome.accepted ? "accepted" : outcome.code });
  // A refusal is stored as well, so it is thrown only after the transaction.
  if (!outcome.accepted) throw refusal(outcome);
  tellToLook(context, [runId]);
  return outcome;
}

interface Deciding {
  readonly runId: string;
  readonly request: DecisionRequest;
  readonly principal: Principal;
  readonly clock: ClockReading;
}

async function judgeAndRecord(
  context: GatewayContext,
  trx: Transaction<Tables>,
  { runId, request, principal, clock }: Deciding,
): Promise<DecisionAnswer | Refusal> {
  const run = await getRun(trx, runId);
  if (run === undefined) throw notFound(`There is no run “${runId}” any more.`);
  const lines = await decidableLines(trx, runId, DECIDABLE);
  const playbook = await getPlaybook(trx, run.playbook, run.playbookRevision);
  const earlier = await sameBefore(trx, run, request, principal, clock.businessMs);
  const alreadyOut = new Set(earlier?.dropped ?? []);
  const verdict = judgeDecision({
    decision: {
      kind: request.decision,
      planHash: request.planHash,
      drop: request.drop.filter((payableId) => !alreadyOut.has(payableId)),
    },
    run: {
      ended: ENDED_PHASES.includes(run.phase),
      planHash: run.planHash,
      launchedBy: run.launchedBy,
      launchedAtMs: run.launchedAtMs,
      cancelRequested: run.cancelRequestedAtMs !== null,
    },
    token: await tokenFacts(trx, run, principal),
    playbookAuthor: playbook?.author ?? "",
    lines,
    nowMs: context.nowMs(),
  });
  if (earlier !== undefined && (verdict.accepted || DONE_SINCE.includes(verdict.code))) {
    const countsFor = await approvedBy(trx, earlier.decisionId);
    return answer(trx, run, request, { countsFor, dropped: earlier.dropped }, clock);
  }
  return record(context, trx, { runId, request, principal, clock }, run, verdict);
}

async function record(
  context: GatewayContext,
  trx: Transaction<Tables>,
  { runId, request, principal, clock }: Deciding,
  run: Run,
  verdict: DecisionVerdict,
): Promise<DecisionAnswer | Refusal> {
  const nowMs = context.nowMs();
  const recorded = await recordDecision(trx, {
    runId,
    planHash: request.planHash,
    decision: request.decision,
    principal: principalOf(principal.name),
    tokenId: principal.tokenId,
    roles: principal.roles,
    dropped: verdict.accepted ? verdict.dropped : request.drop,
    comment: request.comment ?? null,
    decidedAtMs: nowMs,
    expiresAtMs: expiryMs(run, clock),
    outcome: verdict.accepted ? "accepted" : "refused",
    reason: verdict.accepted ? null : verdict.reason,
    approves: verdict.accepted ? verdict.countsFor : [],
  });
  await appendAudit(trx, {
    businessId: run.businessId,
    nowMs,
    actor: principal.name,
    action: verdict.accepted ? ACTIONS[request.decision] : "run.decision-refused",
    subject: runId,
    details: {
      decisionId: recorded.decisionId,
      decision: request.decision,
      planHash: request.planHash,
      ...(verdict.accepted
        ? { lines: verdict.countsFor.length, dropped: recorded.dropped }
        : { code: verdict.code, reason: verdict.reason }),
    },
  });
  if (!verdict.accepted) return verdict;
  const countsFor = verdict.countsFor.map((line) => line.payableId);
  return answer(trx, run, request, { countsFor, dropped: recorded.dropped }, clock);
}

/** A token that a token of the launcher has made counts as made by the launcher. */
async function tokenFacts(trx: Transaction<Tables>, run: Run, principal: Principal) {
  const made = await tokensCreatedBy(trx, run.launchedBy, run.launchedAtMs);
  const launchers = made.some((token) => token.tokenId === principal.tokenId);
  return {
    ...principal,
    createdBy: launchers ? run.launchedBy : principal.createdBy,
    // The bearer token was found valid when the request came in.
    revoked: false,
    expiresAtMs: null,
  };
}

/** The decision by which the principal has said exactly this before, where it still holds. */
async function sameBefore(
  trx: Transaction<Tables>,
  run: Run,
  request: DecisionRequest,
  principal: Principal,
  businessNowMs: number,
): Promise<Decision | undefined> {
  const wanted = [...new Set(request.drop)].sort().join("\n");
  const decisions = await decisionsOfRun(trx, run.runId);
  return decisions.find(
    (decision) =>
      decision.outcome === "accepted" &&
      decision.decision === request.decision &&
      decision.planHash === request.planHash &&
      decision.principal === principalOf(principal.name) &&
      decision.tokenId === principal.tokenId &&
      decision.expiresAtMs > businessNowMs &&
      decision.dropped.toSorted().join("\n") === wanted,
  );
}

function expiryMs(run: Run, clock: ClockReading): number {
  const validMs = run.policy.approvalValidDays * DAY_MS;
  return Math.round(clock.businessMs + Math.max(validMs, SHORTEST_APPROVAL_MS * clock.scale));
}

async function answer(
  trx: Transaction<Tables>,
  run: Run,
  request: DecisionRequest,
  effect: { readonly countsFor: readonly string[]; readonly dropped: readonly string[] },
  clock: ClockReading,
): Promise<DecisionAnswer> {
  return {
    accepted: true,
    decision: request.decision,
    ...effect,
    missing:
      request.decision === "reject" ? [] : await missingApprovals(trx, run.runId, clock.businessMs),
  };
}

async function approvedBy(trx: Transaction<Tables>, decisionId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom("line_approvals")
    .select("payable_id")
    .where("decision_id", "=", decisionId)
    .orderBy("payable_id")
    .execute();
  return rows.map((row) => row.payable_id);
}

const STATUS_OF: Readonly<Record<Refusal["code"], 403 | 409 | 422>> = {
  "run-ended": 409,
  "no-plan": 409,
  "stale-plan": 409,
  "unknown-payable": 422,
  "token-invalid": 403,
  launcher: 403,
  "playbook-author": 403,
  "launchers-token": 403,
  "role-missing": 403,
  "nothing-left": 409,
};

function refusal({ code, reason }: Refusal): GatewayError {
  const message = `Refused: ${reason}.`;
  return new GatewayError(STATUS_OF[code], code.replaceAll("-", "_"), message, {
    accepted: false,
  });
}
