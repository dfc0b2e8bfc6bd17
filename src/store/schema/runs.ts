import type { AuthorKind } from "../../contracts/authors.ts";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine, PlanSummary, RunPhase, SkippedLine } from "../../contracts/pay-run.ts";
import type { DryPlanAsked } from "../../contracts/activities.ts";
import type { LeftOutCode, LineReason } from "../../contracts/reason-codes.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import {
  flag,
  growing,
  integer,
  integerOrNull,
  json,
  readAs,
  readAsOrNull,
  table,
  text,
  textOrNull,
  word,
  wordOrNull,
} from "./table.ts";

/** Runs, plans and their lines. */
export const runTables = {
  runs: table(["run_id"], {
    /** Workflow id. */
    run_id: text,
    /** The API's businessId. */
    business_id: text,
    /** The profile's name. */
    business: text,
    playbook: text,
    playbook_revision: integer,
    /** The compiled playbook at the launch, as JSON: a running run keeps its revision. */
    policy: json<PayRunPlaybook>(),
    /** `YYYY-MM-DD`, the nominal fire time's date. */
    period: text,
    /** 1, 2, … for `/r2`: one more only after a rejected, expired, cancelled or failed run. */
    revision: integer,
    inputs: json<Readonly<Record<string, unknown>>>(),
    phase: readAs<RunPhase>(),
    waiting_for: textOrNull,
    plan_hash: textOrNull,
    /** 0 before the first plan. */
    plan_no: integer,
    total_cents: integer,
    launched_by: text,
    launched_by_kind: word<AuthorKind>(),
    launched_by_token_id: textOrNull,
    launched_at_ms: integer,
    cancel_requested_at_ms: integerOrNull,
    cancel_requested_by: textOrNull,
    cancel_requested_by_kind: wordOrNull<AuthorKind>(),
    cancel_reason: textOrNull,
    ended_at_ms: integerOrNull,
    /** Real instant of the first plan; business-clock instant until which it may be approved. */
    planned_at_ms: integerOrNull,
    approve_by_ms: integerOrNull,
    /** Last reason a run failed, for people. */
    failure: textOrNull,
    /** Decisions that were sent straight to Temporal. */
    decisions_sent: integer,
  }),
  /** One row per plan of a run; a changed line makes the next one. Insert-only. */
  plans: growing(["run_id", "plan_no"], {
    run_id: text,
    /** 1, 2, …: one more each time a line was planned anew. */
    plan_no: integer,
    plan_hash: text,
    summary: json<PlanSummary>(),
    created_at_ms: integer,
  }),
  /** Insert-only: what was planned for a payable, by version. */
  plan_lines: growing(["run_id", "payable_id", "version"], {
    run_id: text,
    payable_id: text,
    version: integer,
    /** The plan that introduced this version. */
    plan_no: integer,
    line_no: integer,
    line_hash: text,
    contact_id: text,
    amount_cents: integer,
    execution_date: text,
    source_id: text,
    line: json<PlanLine>(),
  }),
  plan_skipped: table(["run_id", "payable_id"], {
    run_id: text,
    payable_id: text,
    code: readAs<LeftOutCode>(),
    skipped: json<SkippedLine>(),
  }),
  /** Where each line of a run stands; the mutable side of plan_lines. */
  run_lines: table(["run_id", "payable_id"], {
    run_id: text,
    payable_id: text,
    business_id: text,
    /** The current version in plan_lines. */
    version: integer,
    /** Its place in the plan, from 1. */
    line_no: integer,
    line_hash: text,
    contact_id: text,
    source_id: text,
    amount_cents: integer,
    execution_date: text,
    quorum: integer,
    state: readAs<LineState>(),
    reason_code: readAsOrNull<LineReason>(),
    reason: textOrNull,
    payment_ids: json<readonly string[]>(),
    attempts: integer,
    /** 1 once the funding step has found the money for it. */
    funded: flag,
    /** Fencing: one more with every lease; a result of an older epoch never downgrades a line. */
    lease_epoch: integer,
    lease_owner: textOrNull,
    /** Until when the holder of its lease may send; null while it isn't leased. */
    lease_until_ms: integerOrNull,
    /** Service-clock instant before which it is not leased again (back-off, lookup window). */
    not_before_ms: integer,
    /** How many leases in a row came to nothing, and since when (service clock). */
    back_offs: integer,
    back_off_since_ms: integerOrNull,
    /** Business-clock instant of the next poll of its payments. */
    poll_at_ms: integer,
    /** 1 if an event said "look". */
    look: flag,
    dropped_by: textOrNull,
    updated_at_ms: integer,
    /** Index of its rule in the run's policy. */
    rule_index: integer,
    /**
     * This and the next five repeat what its version says, so that the database can count lines by
     * it.
     */
    due_date: textOrNull,
    days_late: integer,
    flagged: flag,
    bank_changed: flag,
    record_changed: flag,
    over_limit: flag,
    /** Stage that was open when the run last looked, from 0. */
    stage: integer,
    /**
     * Business-clock and real instant since which the stage's approvers are asked for a decision.
     */
    stage_since_ms: integerOrNull,
    stage_real_ms: integerOrNull,
    /**
     * Business-clock instants of the next reminder and of the escalation; null if there is none.
     */
    remind_at_ms: integerOrNull,
    escalate_at_ms: integerOrNull,
    /** 1 once the stage was escalated. */
    escalated: flag,
    /**
     * The vendor's record (`recordKey`) about which people are asked whether the account is still
     * right, and since when, in real time; null if they aren't.
     */
    record_asked: textOrNull,
    record_asked_at_ms: integerOrNull,
  }),
  dry_plans: table(["dry_plan_id"], {
    dry_plan_id: text,
    created_at_ms: integer,
    asked: json<DryPlanAsked>(),
    /** The plan without its bills, and which lines belong to it, as JSON; null until it is made. */
    plan: textOrNull,
  }),
  /** Bills of one computation of a dry plan. */
  dry_plan_lines: table(["lines_id", "line_no"], {
    lines_id: text,
    /** From 1; bills that would be paid come first. */
    line_no: integer,
    /** 1 for a bill left out. */
    skipped: integer,
    /** PlanLine or SkippedLine as JSON. */
    line: text,
    created_at_ms: integer,
  }),
};
