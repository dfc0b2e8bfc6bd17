import { sentenceOf } from "../../domain/facts/all.ts";
import { approvalGiven } from "../../domain/facts/decisions.ts";
import { spoken } from "../../domain/facts/fact.ts";
import { type AuthorKind } from "../../contracts/authors.ts";
import type { PlanLine } from "../../contracts/pay-run.ts";
import { stageText } from "../../domain/approvals/stages.ts";
import { spokenDate } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import { refusalText } from "../../domain/planning/decided-before.ts";
import { sumText } from "../../domain/planning/vendor-sums.ts";
import { refusalsOf } from "../../store/approvals/decided-before.ts";
import type { AuditEntry } from "../../store/audit/audit.ts";
import type { Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";
import { eventsOfPayable, leftOutOf, planningsOf } from "../../store/lines/payable-history.ts";
import type { BillApproval } from "./approvals.ts";
import type { confirmedOf } from "./deciders.ts";

interface TimelineEntry {
  readonly atMs: number;
  readonly kind: string;
  readonly text: string;
  readonly runId?: string;
  readonly by?: string;
  readonly byKind?: AuthorKind;
}

/** Returns everything that happened to a bill, first to last. */
export async function timelineOf(
  db: Db,
  bill: {
    readonly businessId: string;
    readonly payableId: string;
    readonly trail: readonly AuditEntry[];
    readonly holds: readonly Hold[];
    readonly approvals: readonly BillApproval[];
    readonly confirmed: Awaited<ReturnType<typeof confirmedOf>>;
  },
) {
  const { businessId, payableId, trail, holds } = bill;
  const timeline: TimelineEntry[] = [
    ...(await plannings(db, businessId, payableId)),
    ...(await leftOut(db, businessId, payableId)),
    ...bill.approvals.map(({ at, by, runId, roles, stage, escalated, ...said }) => ({
      atMs: Date.parse(at),
      kind: "approved",
      text: `Approved by ${by} (${roles.join(", ")})${stageNote(stage, escalated)}${hurryNote(said.hurry)}${verifiedNote(said.verifiedBankChange)}`,
      runId,
      by,
    })),
    ...bill.confirmed.map(({ at, by, runId, roles, hurry }) => ({
      atMs: Date.parse(at),
      kind: "confirmed",
      text: `${by} (${roles.join(", ")}) said that its vendor's account is still right${hurryNote(hurry)}`,
      runId,
      by,
    })),
    ...(await refusals(db, businessId, payableId)),
    ...(await events(db, businessId, payableId)),
    ...holds.flatMap(ofHold),
    ...storyOf(trail),
  ];
  return timeline
    .toSorted((one, other) => one.atMs - other.atMs)
    .map(({ atMs, ...entry }) => ({ at: new Date(atMs).toISOString(), ...entry }));
}

/**
 * Returns the trail's entries as a story. That a bill waits for an approval appears only if it ends
 * a hold.
 */
function storyOf(trail: readonly AuditEntry[]): TimelineEntry[] {
  let wasHeld = false;
  return trail.flatMap((entry) => {
    const { action } = entry;
    const isLifted = wasHeld && action === "line:awaiting-approval";
    if (action.startsWith("line:")) wasHeld = action === "line:on-hold";
    if (isLifted) return [{ ...ofEntry(entry), text: "No longer on hold" }];
    // Approvals are shown as the store has them.
    const isShown = action.startsWith("line:awaiting") || action === approvalGiven.action;
    return isShown ? [] : [ofEntry(entry)];
  });
}

function verifiedNote(verified: BillApproval["verifiedBankChange"]): string {
  if (verified === null) return "";
  return `; the vendor's new bank account was verified with ${verified.person}, called on ${verified.phone}`;
}

function hurryNote(hurry: string | null): string {
  return hurry === null ? "" : `, hurried: ${hurry}`;
}

function stageNote(stage: number, escalated: boolean): string {
  const after = escalated ? ", after it was escalated" : "";
  return `${stage === 1 ? "" : ` in stage ${stage}`}${after}`;
}

async function plannings(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await planningsOf(db, businessId, payableId);
  return found.map(({ runId, line, createdAtMs, policy }) => {
    const needs =
      line.stages?.map(stageText).join(", then ") ??
      `${line.quorum} of ${line.approvers.join(", ")}`;
    const because = sumText(line, policy.approve);
    const why = because === undefined ? "" : `, because ${because}`;
    const again = line.version > 1 ? ` (version ${line.version})` : "";
    return {
      atMs: createdAtMs,
      kind: "planned",
      text: `Planned${again}: ${formatUsd(line.amountCents)} on ${spokenDate(line.executionDate)}, arriving ${spokenDate(line.arrivalDate)}; needs ${needs}${why}${oddText(line)}`,
      runId,
    };
  });
}

/** Repeats what the plan showed to its approvers. */
function oddText({ flags }: PlanLine): string {
  const odd = flags.filter(({ kind }) => kind !== "late").map(({ text: said }) => said);
  return odd.length === 0 ? "" : `. Worth a look: ${odd.join(" ").replace(/\.$/, "")}`;
}

async function refusals(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await refusalsOf(db, businessId, [payableId]);
  return found.map((refusal) => ({
    atMs: refusal.atMs,
    kind: refusal.how === "rejected" ? "rejected" : "dropped",
    text: refusalText(refusal),
    runId: refusal.runId,
    by: refusal.principal,
  }));
}

async function leftOut(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await leftOutOf(db, businessId, payableId);
  return found.map(({ runId, skipped, launchedAtMs }) => ({
    atMs: launchedAtMs,
    kind: "left-out",
    text: `Not in the plan: ${skipped.text}`,
    runId,
  }));
}

async function events(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const found = await eventsOfPayable(db, businessId, payableId);
  return found.map(({ type, receivedAtMs, via }) => ({
    atMs: receivedAtMs,
    kind: "event",
    text: `An event says: ${EVENTS[type] ?? spoken(type)}${via === "deliveries" ? " (found in the list of deliveries)" : ""}`,
  }));
}

const EVENTS: Readonly<Record<string, string>> = {
  "payable.created": "the bill was entered",
  "payable.approved": "the bill was approved",
  "payable.declined": "the bill was declined",
  "payable.cancelled": "the bill was cancelled",
  "payable.approval_reset": "the bill's approval was taken back",
  "payable.payment.scheduled": "a payment was scheduled",
  "payable.payment.partially_paid": "a part was paid",
  "payable.paid": "it was paid",
  "payable.payment.failed": "a payment failed",
  "payable.payment.reversed": "a payment came back",
};

function ofHold(hold: Hold): TimelineEntry[] {
  const { author, authorKind, reason, createdAtMs, releasedAtMs } = hold;
  const by = { by: author, byKind: authorKind };
  const set = { atMs: createdAtMs, kind: "hold", text: `On hold: ${reason}`, ...by };
  if (releasedAtMs === null) return [set];
  const lifter = {
    by: hold.releasedBy ?? "a person",
    byKind: hold.releasedByKind ?? ("principal" as const),
  };
  return [set, { atMs: releasedAtMs, kind: "hold", text: `Hold lifted: ${reason}`, ...lifter }];
}

function ofEntry({ atMs, actor: by, actorKind: byKind, ...entry }: AuditEntry): TimelineEntry {
  return { atMs, by, byKind, ...sentenceOf(entry) };
}
