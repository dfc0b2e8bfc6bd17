import type { LineReason } from "../../contracts/reason-codes.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import type { ApprovalRule } from "../../contracts/playbook.ts";

/**
 * Reason code of a line whose vendor's record was changed after it was approved. Its approvers are
 * asked once whether the account is still right.
 */
export const CHANGED_RECORD = "changed_record" satisfies LineReason;

/** A vendor's record, as it was when somebody said that the account is still right. */
export interface ConfirmedRecord {
  readonly contactId: string;
  /** As the service writes it. */
  readonly updatedAt: string | null;
}

/**
 * Returns the roles that may say whether a line's account is still right: its approvers, in any
 * stage, and those to whom it was escalated.
 *
 * @param escalated the escalated stage, from 0; null if none was
 */
export function rolesOfLine(
  {
    approvers,
    stages = [],
  }: {
    readonly approvers: readonly string[];
    readonly stages?: PlanLine["stages"] | undefined;
  },
  escalated: number | null,
): readonly string[] {
  const to = escalated === null ? undefined : stages[escalated]?.escalate?.to;
  return [...new Set([...approvers, ...(to ?? [])])];
}

/** As `rolesOfLine`, by the line's rule; no roles if it has none. */
export function rolesAskedOf(
  rule: Pick<ApprovalRule, "by" | "stages"> | undefined,
  escalated: number | null,
): readonly string[] {
  return rule === undefined ? [] : rolesOfLine({ ...rule, approvers: rule.by }, escalated);
}

/** Asks whether the account is still right, on the line that waits for it. */
export function recordQuestion(
  { runId, contactId }: { readonly runId: string; readonly contactId: string },
  { roles, what }: { readonly roles: readonly string[]; readonly what: string },
): string {
  return `${recordChangedText(what)} ${QUESTION} One person of ${roles.join(" or ")} who didn't launch the run says so: payrun approve ${runId} --same-account ${contactId}`;
}

/** Returns the command that says of vendors that their accounts are still right. */
export function wordCommand(run: string): string {
  return `payrun approve ${run} --same-account VENDOR, or all`;
}

/** Returns what a line's reason says about the change, without what there is to do. */
export function changeIn(reason: string | null): string {
  return /^[^:]*: ([^.]*)\./.exec(reason ?? "")?.[1] ?? "its record was changed";
}

/**
 * True for a line that waits until somebody has said that the account is still right: the gate has
 * asked, and nothing is sent before.
 */
export function asksForWord(line: {
  readonly recordAsked: string | null;
  readonly reason: string | null;
}): boolean {
  return line.recordAsked !== null && line.reason?.includes(QUESTION) === true;
}

const QUESTION = "Is the account still right?";

/** Says, on a scheduled line, that the vendor's record was changed. */
export function recordChangedText(what: string): string {
  return `The vendor's record was changed after the approval: ${what}.`;
}

const CONFIRMED_MOST = 10_000;
const TEXT_MAX = 1_000;

export const CONFIRMED_FORM =
  "confirmedRecords must be a list of { contactId, updatedAt }, and nothing else";

export const CONFIRMED_ALONE =
  "must stand alone: it is about no bill, no changed bank account and no deposit";

/** True if a decision that confirms records says nothing else, which would be ignored. */
export function areAlone({
  drop = [],
  verifiedBankChanges = [],
  topUpHash,
}: {
  readonly drop?: readonly string[] | undefined;
  readonly verifiedBankChanges?: readonly unknown[] | undefined;
  readonly topUpHash?: string | undefined;
}): boolean {
  return drop.length === 0 && verifiedBankChanges.length === 0 && topUpHash === undefined;
}

/**
 * Reads a signed decision's claim about changed records; null if there is none, undefined if it is
 * malformed.
 */
export function readConfirmedRecords(
  claim: unknown,
): readonly ConfirmedRecord[] | null | undefined {
  if (claim === undefined) return null;
  if (!Array.isArray(claim) || claim.length === 0 || claim.length > CONFIRMED_MOST) {
    return undefined;
  }
  const read: ConfirmedRecord[] = [];
  for (const each of claim as readonly unknown[]) {
    if (typeof each !== "object" || each === null) return undefined;
    const { contactId, updatedAt, ...others } = each as Readonly<Record<string, unknown>>;
    if (Object.keys(others).length > 0 || !isText(contactId)) return undefined;
    if (updatedAt !== null && !isText(updatedAt)) return undefined;
    read.push({ contactId, updatedAt });
  }
  return read;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= TEXT_MAX;
}
