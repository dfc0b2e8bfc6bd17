import { newYorkDate } from "../clock/new-york.ts";

/** The most refusals that a flag tells of, and the longest part of a comment. */
const TOLD = 3;
const COMMENT_SHOWN = 300;

/** The bills that people have rejected or left out, as far as the store says. */
export interface RefusedBills {
  readonly all: ReadonlySet<string>;
  /** Those of the last 30 days: which date a bill has, whoever enters it again decides. */
  readonly recent: ReadonlySet<string>;
}

/** That a person rejected a run with the bill, or left the bill out of one. */
export interface Refusal {
  readonly how: "rejected" | "left out";
  readonly runId: string;
  readonly decisionId: string;
  readonly principal: string;
  /** The roles with which they decided. */
  readonly roles: readonly string[];
  readonly comment: string | null;
  readonly atMs: number;
}

/** That a bill was approved as its rule asks. */
export interface Approval {
  readonly atMs: number;
  /** The bills that it was said to resemble. */
  readonly twins: readonly string[];
}

/** What people have decided about a bill, as far as it still matters. */
export interface Decided {
  /** Those that no approval has come after, latest first. */
  readonly refusals: readonly Refusal[];
  /** Those that no refusal has come after. */
  readonly approvals: readonly Approval[];
}

/** By payable id; bills about which nobody has decided are missing. */
export type DecidedBefore = ReadonlyMap<string, Decided>;

/** Keeps of all decisions about a bill what still matters: the later one counts. */
export function stillDecided({ refusals, approvals }: Decided): Decided {
  const last = (all: readonly { readonly atMs: number }[]) =>
    all.reduce((latest, { atMs }) => Math.max(latest, atMs), -Infinity);
  const [refusedMs, approvedMs] = [last(refusals), last(approvals)];
  return {
    refusals: refusals
      .filter(({ atMs }) => atMs >= approvedMs)
      .toSorted((one, other) => other.atMs - one.atMs),
    approvals: approvals.filter(({ atMs }) => atMs > refusedMs),
  };
}

/**
 * True if a bill was approved although it resembles another, or the other was approved so after it:
 * who approves the first of two has not said that the second may be paid as well.
 */
export function isApprovedPair(before: DecidedBefore, payableId: string, other: string): boolean {
  const own = before.get(payableId)?.approvals ?? [];
  if (own.some(({ twins }) => twins.includes(other))) return true;
  const theirs = before.get(other)?.approvals ?? [];
  return theirs.some(
    ({ twins, atMs }) => twins.includes(payableId) && own.some((first) => first.atMs <= atMs),
  );
}

/** Says who rejected a bill or left it out before, when, and why; null if nobody did. */
export function refusedText(decided: Decided | undefined): string | null {
  const refusals = decided?.refusals ?? [];
  if (refusals.length === 0) return null;
  const told = refusals
    .slice(0, TOLD)
    .map((refusal) => `${refusalText(refusal, ` on ${newYorkDate(refusal.atMs)}`)}.`);
  const more = refusals.length - told.length;
  return [...told, ...(more > 0 ? [`And ${more} more times.`] : [])].join(" ");
}

/** Says who rejected a bill or left it out, and why. */
export function refusalText({ how, principal, comment }: Refusal, when = ""): string {
  const verb = how === "rejected" ? "Rejected" : "Left out";
  const why = comment === null ? "without a comment" : `“${comment.slice(0, COMMENT_SHOWN)}”`;
  return `${verb} by ${principal}${when}: ${why}`;
}
