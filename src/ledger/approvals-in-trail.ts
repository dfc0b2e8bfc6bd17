import { neededIn } from "../domain/approvals/stages.ts";
import { APPROVAL_GIVEN, type AuditEntry, isAsWritten } from "../store/audit/audit.ts";

/** An approval as the trail has it. */
export interface Given {
  readonly principal: string;
  /** The line, or the deposit, that it is of. */
  readonly hash: string;
  readonly stage: number;
  /** How many people each stage needs. */
  readonly quorums: readonly number[];
  readonly expiresAtMs: number;
  /** True if its stage needs one more person because it was hurried. */
  readonly hurried?: boolean;
}

interface ApprovalDetails extends Omit<Given, "principal" | "hash"> {
  readonly runId: string;
  /** Missing if the entry is about several lines. */
  readonly lineHash?: string;
  readonly each?: readonly { readonly payableId: string; readonly lineHash: string }[];
}

/** Returns the trail's approvals of these payables' lines in a run, first to last. */
export function approvalsIn(
  entries: readonly AuditEntry[],
  runId: string,
  payableIds: ReadonlySet<string>,
): Map<string, Given[]> {
  const found = new Map<string, Given[]>();
  for (const entry of entries) {
    const details = entry.details as unknown as ApprovalDetails;
    if (entry.action !== APPROVAL_GIVEN || details.runId !== runId || !isAsWritten(entry)) continue;
    const { lineHash = "", each = [{ payableId: entry.subject, lineHash }] } = details;
    for (const line of each) {
      if (!payableIds.has(line.payableId)) continue;
      const given = { ...details, principal: entry.actor, hash: line.lineHash };
      const before = found.get(line.payableId);
      if (before === undefined) found.set(line.payableId, [given]);
      else before.push(given);
    }
  }
  return found;
}

/**
 * True if each stage has its quorum of different people, whose last approval is valid: the quorum
 * that was needed when they approved, and the one that the line's hash covers.
 */
export function isApprovedInTrail(
  given: readonly Given[],
  { lineHash, quorums }: { readonly lineHash: string; readonly quorums: readonly number[] },
  businessMs: number,
): boolean {
  const ofLine = given.filter((each) => each.hash === lineHash);
  const latest = new Map(ofLine.map((each) => [each.principal, each]));
  const valid = [...latest.values()].filter(({ expiresAtMs }) => expiresAtMs > businessMs);
  const [first] = valid;
  if (first === undefined) return false;
  const stages = Array.from({ length: Math.max(first.quorums.length, quorums.length) });
  return stages.every((_, stage) => {
    const quorum = Math.max(first.quorums[stage] ?? 0, quorums[stage] ?? 0);
    const here = valid.filter((each) => each.stage === stage);
    const people = new Set(here.map(({ principal }) => principal));
    return (
      here.length >=
      neededIn(
        quorum,
        ofLine.filter((each) => people.has(each.principal)),
      )
    );
  });
}
