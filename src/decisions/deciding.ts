import { runDecisionRefused } from "../domain/facts/decisions.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { DAY_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { ClockReading } from "../business/clock.ts";
import { ENDED_PHASES } from "../contracts/pay-run.ts";
import { type DecisionVerdict, refuse } from "../domain/approvals/policy.ts";
import {
  type BankChange,
  unverified,
  type VerifiedBankChange,
  verifiedProblem,
} from "../domain/approvals/bank-changes.ts";
import type { ConfirmedRecord } from "../domain/approvals/changed-records.ts";
import type { OtherNow } from "../domain/approvals/share.ts";
import { principalOf } from "../contracts/principal.ts";
import { FRESH_SIGN_IN_MINUTES, needsFreshSignIn } from "../domain/approvals/session.ts";
import { formatUsd } from "../domain/money.ts";
import { onlyPlans } from "../domain/plan-only.ts";
import { peopleOf } from "../ledger/run-people.ts";
import { differenceOfRun } from "../store/runs/launch-in-trail.ts";
import { recordDecision, type NewDecision } from "../store/approvals/decisions.ts";
import type { Db, Tables } from "../store/index.ts";
import type { Run } from "../store/runs/runs.ts";

/** However fast a sandbox's clock runs, an approval lasts at least this much real time. */
const SHORTEST_APPROVAL_MS = 60_000;

/** The most vendors that a refusal names; further ones are counted. */
const VENDORS_NAMED = 10;

export interface DecisionRequest {
  readonly decision: "approve" | "reject";
  readonly planHash: string;
  readonly drop: readonly string[];
  readonly comment?: string | undefined;
  /** How changed bank accounts of vendors were verified. */
  readonly verifiedBankChanges?: readonly VerifiedBankChange[] | undefined;
  /**
   * Changed records of vendors whose account is still right, if it is about none of the bills: it
   * then answers only that.
   */
  readonly confirmedRecords?: readonly ConfirmedRecord[] | undefined;
  /** Hash of the deposit that it is about, if it is about none of the bills. */
  readonly topUpHash?: string | undefined;
}

/**
 * Decides whether one more refusal goes into the trail; returns how often it has come, or undefined
 * for no.
 */
export type NoteRefusal = (code: string) => { readonly times: number } | undefined;

/** The decider, as far as the caller has identified them: by a bearer token or a signature. */
export interface Decider {
  /** Id of the token, or of the signature. */
  readonly tokenId: string;
  readonly name: string;
  readonly roles: readonly string[];
  /** When they signed in at the console; undefined if they didn't. */
  readonly signedInAtMs?: number;
}

export interface Deciding {
  readonly run: Run;
  readonly request: DecisionRequest;
  readonly principal: Decider;
  /** True if the business allows one person to launch and approve. */
  readonly singlePerson?: boolean | undefined;
  /**
   * To approve more than this at the console, a person must have signed in recently; undefined for
   * no limit.
   */
  readonly freshSignInOverCents?: number | undefined;
  readonly clock: ClockReading;
  /** Real time. */
  readonly nowMs: number;
  /**
   * Bills that the service shows differently from how they were planned, or whose vendors it does,
   * by their ids.
   */
  readonly others?: ReadonlyMap<string, OtherNow>;
  /** Further facts for the audit trail, JSON-safe. */
  readonly proof?: Readonly<Record<string, unknown>>;
  /** Each refusal goes into the trail unless this is given. */
  readonly noteRefusal?: NoteRefusal;
}

/** Returns what a business's profile says about whose decision counts. */
export function decisionRules({
  singlePerson,
  signIn,
}: BusinessProfile): Pick<Deciding, "singlePerson" | "freshSignInOverCents"> {
  return { singlePerson, freshSignInOverCents: signIn?.freshOverCents };
}

/** Reads what a decision is judged by: its run, and the person or system that decides. */
export async function judgedBy(
  db: Db,
  { run, principal, singlePerson = false }: Pick<Deciding, "run" | "principal" | "singlePerson">,
) {
  const { playbookAuthors, launchers, theirTokens } = await peopleOf(db, run);
  return {
    run: {
      ended: ENDED_PHASES.includes(run.phase),
      planHash: run.planHash,
      launchers,
      cancelRequested: run.cancelRequestedAtMs !== null,
      onlyPlans: onlyPlans(run.policy),
      differs: await differenceOfRun(db, run),
    },
    token: { ...principal, isLaunchers: theirTokens.has(principal.tokenId) },
    playbookAuthors,
    singlePerson,
  };
}

/** Refuses an approval that needs a more recent sign-in; `amountCents` is what it approves. */
export function askingFreshSignIn(
  { request, principal, freshSignInOverCents: overCents, nowMs }: Deciding,
  verdict: DecisionVerdict,
  amountCents: number,
): DecisionVerdict {
  if (!verdict.accepted || request.decision === "reject" || overCents === undefined) return verdict;
  if (!needsFreshSignIn(principal, amountCents, { overCents, nowMs })) return verdict;
  return refuse(
    "sign_in_too_old",
    `this approves ${formatUsd(amountCents)}, and more than ${formatUsd(overCents)} takes a sign-in of the last ${FRESH_SIGN_IN_MINUTES} minutes: sign in again, then approve`,
  );
}

/**
 * Refuses an approval that lets money go to a vendor's new bank account, if it doesn't say how that
 * was verified. In a sandbox no money moves, so no statement is needed; a statement without a call
 * is refused everywhere.
 *
 * @param changes of the lines that it counts for
 */
export function askingHowVerified(
  { request, clock }: Pick<Deciding, "request" | "clock">,
  verdict: DecisionVerdict,
  changes: readonly BankChange[],
): DecisionVerdict {
  if (!verdict.accepted || request.decision === "reject") return verdict;
  const said = request.verifiedBankChanges ?? [];
  for (const each of said) {
    const problem = verifiedProblem(each);
    if (problem === undefined) continue;
    const vendor = changes.find(({ contactId }) => contactId === each.contactId)?.contactName;
    // Repeats nothing of what was sent: a refusal's reason stays in the trail.
    return refuse(
      "bank_change_unverified",
      `the statement about the new bank account of ${vendor ?? "a vendor"} doesn't describe a call. ${problem.replace(/\.$/, "")}`,
    );
  }
  if (clock.sandbox) return verdict;
  const open = unverified(changes, said);
  if (open.length === 0) return verdict;
  const named = open
    .slice(0, VENDORS_NAMED)
    .map(({ contactId, contactName }) =>
      contactName === null ? contactId : `${contactName} (${contactId})`,
    );
  const first = open[0]?.contactName ?? open[0]?.contactId;
  const more = open.length - named.length;
  const vendors = [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const why = `the bank account of ${vendors} has changed: say whom you called about it, on which number known before the change (verifiedBankChanges; on the command line --verified "${first}=PERSON, NUMBER", once for each vendor), or leave these bills out`;
  const contactIds = open.map(({ contactId }) => contactId);
  return { ...refuse("bank_change_unverified", why), contactIds };
}

/**
 * Returns what is stored of any decision: who took it, how long it is valid, and how it was judged.
 */
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
    bankChanges: request.verifiedBankChanges ?? [],
    decidedAtMs: nowMs,
    expiresAtMs: expiryMs(run, clock),
    outcome: verdict.accepted ? "accepted" : "refused",
    reason: verdict.accepted ? null : verdict.reason,
    approves: verdict.accepted ? verdict.countsFor : [],
    alone: verdict.accepted && verdict.alone === true,
  };
}

/** Returns what the trail says of any accepted decision: as what it was judged. */
export function judgedAs({ run, request, principal, clock }: Deciding) {
  const { tokenId, roles } = principal;
  return { decision: request.decision, tokenId, roles, expiresAtMs: expiryMs(run, clock) };
}

type Judged =
  | {
      readonly accepted: true;
      readonly countsFor: NewDecision["approves"];
      readonly alone?: boolean;
    }
  | { readonly accepted: false; readonly code: string; readonly reason: string };

/**
 * Records a refused decision in the trail, without anything of its body. Only a signed one is
 * stored, since it has used up its id.
 */
export async function recordRefused(
  trx: Transaction<Tables>,
  deciding: Deciding,
  verdict: Extract<Judged, { readonly accepted: false }>,
  subject: string,
  refused = runDecisionRefused,
): Promise<void> {
  const { run, request, principal, nowMs, proof, noteRefusal } = deciding;
  if (proof !== undefined) {
    const judged = { ...asJudged(deciding, verdict), comment: null };
    await recordDecision(trx, { runId: subject, planHash: "", dropped: [], ...judged });
  }
  const told = noteRefusal === undefined ? {} : noteRefusal(verdict.code);
  if (told === undefined) return;
  const { code, reason } = verdict;
  // If a payable is unknown, the reason contains the sender's text.
  const said = code === "unknown_payable" ? {} : { reason };
  const head = { businessId: run.businessId, nowMs, by: principal.name, subject };
  const { decision } = request;
  await record(trx, refused(head, { decision, code, ...said, ...told, ...proof }));
}

function expiryMs(run: Run, clock: ClockReading): number {
  const validMs = run.policy.approvalValidDays * DAY_MS;
  return Math.round(Math.max(clock.businessMs + validMs, clock.afterRealMs(SHORTEST_APPROVAL_MS)));
}
