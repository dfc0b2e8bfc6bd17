import type { BusinessProfile } from "../config/business-profile.ts";
import { formatUsd } from "../domain/money.ts";
import { attemptsOf } from "../store/attempts.ts";
import { listAudit } from "../store/audit.ts";
import { claimOwners } from "../store/claims.ts";
import type { Db } from "../store/index.ts";
import type { SkippedLine, PlanLine } from "../contracts/pay-run.ts";
import { listHolds, type Hold } from "../store/holds.ts";
import { holdJson } from "./holds.ts";
import { currentLineOf } from "./payables.ts";

interface TimelineEntry {
  readonly atMs: number;
  readonly kind: string;
  readonly text: string;
  readonly runId?: string;
  readonly by?: string;
}

/**
 * Everything the store knows about one bill, first to last: plans, approvals, attempts and their
 * answers, events, holds, and what people did.
 */
export async function historyOf(db: Db, profile: BusinessProfile, payableId: string) {
  const { businessId } = profile;
  const attempts = await attemptsOf(db, businessId, payableId);
  const holds = await holdsOf(db, businessId, payableId);
  const line = await currentLineOf(db, businessId, payableId);
  const timeline: TimelineEntry[] = [
    ...(await plannings(db, businessId, payableId)),
    ...(await leftOut(db, businessId, payableId)),
    ...(await approvals(db, businessId, payableId)),
    ...(await events(db, businessId, payableId)),
    ...(await recorded(db, businessId, payableId)),
    ...attempts.flatMap((attempt) =>
      attempt.sends.map((send) => ({
        atMs: send.atMs,
        kind: "sent",
        text: `Attempt ${attempt.seq}, ${formatUsd(attempt.amountCents)}: ${send.result}${
          send.code === undefined ? "" : ` (${send.code})`
        }`,
        by: send.by,
      })),
    ),
  ];
  return {
    payableId,
    business: profile.name,
    owner: (await claimOwners(db, businessId, [payableId])).get(payableId) ?? null,
    state: line?.state ?? null,
    reason: line?.reason ?? null,
    timeline: timeline
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ atMs, ...entry }) => ({ at: iso(atMs), ...entry })),
    attempts: attempts.map((attempt) => ({
      seq: attempt.seq,
      operation: attempt.operation,
      state: attempt.state,
      amountCents: attempt.amountCents,
      executionDate: attempt.executionDate,
      owner: attempt.owner,
      idempotencyKey: attempt.idempotencyKey,
      sends: attempt.sends.map(({ atMs, by: _by, ...send }) => ({ at: iso(atMs), ...send })),
      paymentIds: attempt.paymentIds,
    })),
    holds: holds.map((hold) => holdJson(hold, profile.name)),
  };
}

async function plannings(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const rows = await db
    .selectFrom("plan_lines")
    .innerJoin("runs", "runs.run_id", "plan_lines.run_id")
    .innerJoin("plans", (join) =>
      join.onRef("plans.run_id", "=", "plan_lines.run_id").on("plans.plan_no", "=", 1),
    )
    .select(["plan_lines.run_id", "plan_lines.line", "plans.created_at_ms"])
    .where("runs.business_id", "=", businessId)
    .where("plan_lines.payable_id", "=", payableId)
    .orderBy("plan_lines.version")
    .execute();
  return rows.map((row) => {
    const line = JSON.parse(row.line) as PlanLine;
    const needs = `${line.quorum} of ${line.approvers.join(", ")}`;
    const again = line.version > 1 ? ` (version ${line.version})` : "";
    return {
      atMs: row.created_at_ms,
      kind: "planned",
      text: `Planned${again}: ${formatUsd(line.amountCents)} on ${line.executionDate}, arriving ${line.arrivalDate}; needs ${needs}`,
      runId: row.run_id,
    };
  });
}

async function leftOut(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const rows = await db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select(["plan_skipped.run_id", "plan_skipped.skipped", "runs.launched_at_ms"])
    .where("runs.business_id", "=", businessId)
    .where("plan_skipped.payable_id", "=", payableId)
    .execute();
  return rows.map((row) => ({
    atMs: row.launched_at_ms,
    kind: "left-out",
    text: `Not in the plan: ${(JSON.parse(row.skipped) as SkippedLine).text}`,
    runId: row.run_id,
  }));
}

async function approvals(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const rows = await db
    .selectFrom("line_approvals")
    .innerJoin("runs", "runs.run_id", "line_approvals.run_id")
    .innerJoin("decisions", "decisions.decision_id", "line_approvals.decision_id")
    .select(["line_approvals.run_id", "line_approvals.principal", "decisions.decided_at_ms"])
    .where("runs.business_id", "=", businessId)
    .where("line_approvals.payable_id", "=", payableId)
    .execute();
  return rows.map((row) => ({
    atMs: row.decided_at_ms,
    kind: "approved",
    text: `Approved by ${row.principal}`,
    runId: row.run_id,
    by: row.principal,
  }));
}

async function events(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const rows = await db
    .selectFrom("inbox")
    .select(["type", "received_at_ms", "via"])
    .where("business_id", "=", businessId)
    .where("object", "=", "payable")
    .where("object_id", "=", payableId)
    .execute();
  return rows.map((row) => ({
    atMs: row.received_at_ms,
    kind: "event",
    text: row.via === "deliveries" ? `${row.type} (found in the list of deliveries)` : row.type,
  }));
}

async function recorded(db: Db, businessId: string, payableId: string): Promise<TimelineEntry[]> {
  const entries = await listAudit(db, { businessId, subject: payableId });
  return entries.map((entry) => ({
    atMs: entry.atMs,
    kind: "recorded",
    text: entry.action,
    by: entry.actor,
  }));
}

async function holdsOf(db: Db, businessId: string, payableId: string): Promise<Hold[]> {
  const holds = await listHolds(db, { businessId, nowMs: 0 });
  return holds.filter((hold) => hold.scope === "payable" && hold.value === payableId);
}

function iso(atMs: number): string {
  return new Date(atMs).toISOString();
}
