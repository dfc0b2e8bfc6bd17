import { definedOnly } from "../../../contracts/defined-only.ts";
import type {
  ApprovalRule,
  ApprovalStage,
  Escalation,
  HurryRule,
  PayRule,
  PayRunPlaybook,
  PlaybookSchedule,
  SelectRule,
  TopUpRule,
} from "../../../contracts/playbook.ts";
import { compileSchedule } from "../../schedule.ts";
import {
  type ApprovalRuleInput,
  ARRIVAL_BUSINESS_DAYS,
  type PayRunKeys,
  type StageInput,
} from "./schema.ts";

/**
 * Compiles what the schema has read. The schema has the defaults; here are only those that depend
 * on another key. A key that the engine reads as it is written needs nothing here.
 */
export function compilePayRun(name: string, input: PayRunKeys): PayRunPlaybook {
  const { approvalValid, escalate, remind, remittance, accounting, events, ...others } = input;
  const { changedRecord: { cancelOver: cancelOverCents = null } = {}, ...asWritten } = others;
  const schedule = compileSchedule(input.schedule);
  const { hurry } = input.approve;
  return {
    ...asWritten,
    name,
    business: input.business ?? null,
    schedule,
    select: compileSelect(input.select.due, schedule),
    where: input.where ?? null,
    pay: compilePay(input.pay),
    limits: {
      billCents: input.limits.bill ?? null,
      vendorPerWeekCents: input.limits.vendorPerWeek ?? null,
      businessPerWeekCents: input.limits.businessPerWeek ?? null,
    },
    approve: input.approve.rules.map((rule) => compileApproval(rule, escalate)),
    ...(hurry === undefined ? {} : { hurry: compileHurry(hurry) }),
    approvalValidDays: approvalValid,
    ...(remind === undefined
      ? {}
      : { remind: { after: remind.after, every: remind.every ?? remind.after } }),
    ...(cancelOverCents === null ? {} : { changedRecord: { cancelOverCents } }),
    ...(remittance === undefined
      ? {}
      : { remittance: { as: remittance.as ?? null, replyTo: remittance.replyTo ?? null } }),
    ...(accounting === undefined
      ? {}
      : { accounting: { syncedWithinDays: accounting.syncedWithin } }),
    ...definedOnly({ events }),
  };
}

// Without a schedule the next run is unknown; a week is the usual meaning.
function compileSelect(rule: SelectRule, schedule: PlaybookSchedule | null): SelectRule {
  return rule.due === "before-next-run" && schedule === null ? { due: "within", days: 7 } : rule;
}

function compilePay(input: PayRunKeys["pay"]): PayRule {
  const { clearing, arrivesAfter, topUp, ...asWritten } = input;
  return {
    ...asWritten,
    clearing: clearing === "next-available" ? "NEXT_AVAILABLE" : "STANDARD",
    arrivalBusinessDays: arrivesAfter ?? ARRIVAL_BUSINESS_DAYS[clearing],
    ...(topUp === undefined ? {} : { topUp: compileTopUp(topUp) }),
  };
}

function compileTopUp(input: NonNullable<PayRunKeys["pay"]["topUp"]>): TopUpRule {
  return {
    from: input.from,
    by: input.by,
    quorum: input.quorum,
    atMostCents: input.atMost,
    arrivalBusinessDays: input.arrivesAfter ?? null,
  };
}

function compileHurry({
  under,
  outside,
  then,
}: NonNullable<PayRunKeys["approve"]["hurry"]>): HurryRule {
  return { underMs: under ?? null, outside: outside ?? null, needsAnother: then === "another" };
}

function compileApproval(
  rule: ApprovalRuleInput,
  everywhere: Escalation | undefined,
): ApprovalRule {
  const stages = stagesOf(rule).map((stage) => compileStage(stage, rule.escalate ?? everywhere));
  const isPlain = stages.length === 1 && stages[0]?.escalate === undefined;
  return {
    review: rule.when === "review",
    overCents: rule.over?.amount ?? null,
    where: rule.where ?? null,
    by: [...new Set(stages.flatMap(({ by }) => by))],
    quorum: stages.reduce((sum, { quorum }) => sum + quorum, 0),
    ...(rule.over === undefined || rule.over.per === "bill" ? {} : { overPer: rule.over.per }),
    ...(isPlain ? {} : { stages }),
  };
}

function stagesOf({ by, quorum, stages }: ApprovalRuleInput): StageInput[] {
  return stages ?? [{ by: by ?? [], quorum }];
}

/** Escalating to roles that the stage already has would ask no new person. */
function compileStage(stage: StageInput, outer: Escalation | undefined): ApprovalStage {
  const escalate = stage.escalate ?? outer;
  const to = escalate?.to.filter((role) => !stage.by.includes(role)) ?? [];
  return {
    by: stage.by,
    quorum: stage.quorum,
    ...(escalate === undefined || to.length === 0
      ? {}
      : { escalate: { after: escalate.after, to } }),
  };
}
