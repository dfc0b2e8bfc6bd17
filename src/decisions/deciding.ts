import type { Transaction } from "kysely";
import type { ClockReading } from "../business/clock.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { principalOf } from "../domain/approvals/principal.ts";
import { appendAudit } from "../store/audit.ts";
import { recordDecision, type NewDecision } from "../store/decisions.ts";
import type { Tables } from "../store/index.ts";
import { getPlaybook } from "../store/playbooks.ts";
import type { Run } from "../store/runs.ts";
import { tokensCreatedBy } from "../store/tokens.ts";

const DAY_MS = 86_400_000;

/** However fast a sandbox's clock runs, an approval outlives this much real time. */
const SHORTEST_APPROVAL_MS = 60_000;

export interface DecisionRequest {
  readonly decision: "approve" | "reject";
  readonly planHash: string;
  readonly drop: readonly string[];
  readonly comment?: string | undefined;
  /** Hash of the deposit that it is about, where it is about none of the bills. */
  readonly topUpHash?: string | undefined;
}

/** Says whether one more refusal stands in the trail, and how often it has come; undefined for no. */
export type NoteRefusal = (code: string) => { readonly times: number } | undefined;

/** Who decides, as far as the one who asks has found out: by a bearer token or a signature. */
export interface Decider {
  /** Id of the token, or of the signature. */
  readonly tokenId: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly createdBy: string;
  readonly createdAtMs: number;
}

export interface Deciding {
  readonly run: Run;
  readonly request: DecisionRequest;
  readonly principal: Decider;
  readonly clock: ClockReading;
  /** Real time. */
  readonly nowMs: number;
  /** What else the audit trail keeps of it, JSON-safe. */
  readonly proof?: Readonly<Record<string, unknown>>;
  /** Each refusal stands in the trail unless this is said. */
  readonly noteRefusal?: NoteRefusal;
}

/** What a decision is judged by of its run. */
export function runFacts(run: Run) {
  return {
    ended: ENDED_PHASES.includes(run.phase),
    planHash: run.planHash,
    launchedBy: run.launchedBy,
    launchedAtMs: run.launchedAtMs,
    cancelRequested: run.cancelRequestedAtMs !== null,
  };
}

/** Who wrote the revision of the playbook that the run was launched with. */
export async function authorOf(trx: Transaction<Tables>, run: Run): Promise<string> {
  return (await getPlaybook(trx, run.playbook, run.playbookRevision))?.author ?? "";
}

/** A token that a token of the launcher has made counts as made by the launcher. */
export async function tokenFacts(trx: Transaction<Tables>, run: Run, principal: Decider) {
  const made = await tokensCreatedBy(trx, run.launchedBy, run.launchedAtMs);
  const launchers = made.some((token) => token.tokenId === principal.tokenId);
  return {
    ...principal,
    createdBy: launchers ? run.launchedBy : principal.createdBy,
    // The bearer token or the signature was found valid when it came in.
    revoked: false,
    expiresAtMs: null,
  };
}

/** What is stored of any decision: who has taken it, how long it holds, and how it was judged. */
export function asJudged(
  { run, request, principal, clock, nowMs }: Deciding,
  verdict: Judged,
): Omit<NewDecision, "runId" | "planHash" | "dropped"> {
  return {
    decision: request.decision,
    principal: principalOf(principal.name),
    tokenId: principal.tokenId,
    roles: principal.roles,
    comment: request.comment ?? null,
    decidedAtMs: nowMs,
    expiresAtMs: expiryMs(run, clock),
    outcome: verdict.accepted ? "accepted" : "refused",
    reason: verdict.accepted ? null : verdict.reason,
    approves: verdict.accepted ? verdict.countsFor : [],
  };
}

type Judged =
  | { readonly accepted: true; readonly countsFor: NewDecision["approves"] }
  | { readonly accepted: false; readonly code: string; readonly reason: string };

/**
 * Writes a refused decision down: into the trail, without anything of its body. Only a signed one
 * is stored, since it has used up its id.
 */
export async function recordRefused(
  trx: Transaction<Tables>,
  deciding: Deciding,
  verdict: Extract<Judged, { readonly accepted: false }>,
  { subject, action }: { readonly subject: string; readonly action: string },
): Promise<void> {
  const { run, request, principal, nowMs, proof, noteRefusal } = deciding;
  if (proof !== undefined) {
    const judged = { ...asJudged(deciding, verdict), comment: null };
    await recordDecision(trx, { runId: subject, planHash: "", dropped: [], ...judged });
  }
  const told = noteRefusal === undefined ? {} : noteRefusal(verdict.code);
  if (told === undefined) return;
  const { code } = verdict;
  await appendAudit(trx, {
    ...{ businessId: run.businessId, nowMs, actor: principal.name, action, subject },
    details: { decision: request.decision, code, ...told, ...proof },
  });
}

function expiryMs(run: Run, clock: ClockReading): number {
  const validMs = run.policy.approvalValidDays * DAY_MS;
  return Math.round(clock.businessMs + Math.max(validMs, SHORTEST_APPROVAL_MS * clock.scale));
}
