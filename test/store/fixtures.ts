import type {
  FundingChoice,
  PlanLine,
  PlanSummary,
  SkippedLine,
} from "../../src/contracts/pay-run.ts";
import type { NewRun } from "../../src/store/runs/runs.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";

export const policy = payRunPlaybook();

export function newRun(changes: Partial<NewRun> = {}): NewRun {
  return {
    businessId: "biz_1",
    business: "acme",
    playbook: "weekly",
    playbookRevision: 1,
    policy,
    period: "2026-11-05",
    launchedBy: "lena",
    launchedByTokenId: "tok_lena",
    nowMs: 1_000,
    ...changes,
  };
}

const funding: FundingChoice = {
  sourceId: "balance",
  rail: "SERVICE",
  kind: "balance",
  name: "Balance",
  last4: null,
  pay: { paymentRail: "SERVICE", fundingSource: "balance" },
  needsAchAuthorization: false,
};

export function planLine(payableId: string, changes: Partial<PlanLine> = {}): PlanLine {
  return {
    payableId,
    version: 1,
    lineHash: `hash-of-${payableId}-1`,
    publicId: null,
    contactId: "con_1",
    contactName: "Vendor",
    description: null,
    amountCents: 10_000,
    totalCents: 10_000,
    bankLast4: "1234",
    record: { updatedAt: null, shown: [] },
    dueDate: "2026-11-10",
    executionDate: "2026-11-05",
    arrivalDate: "2026-11-10",
    dateRule: "by-due-date",
    clearing: "STANDARD",
    funding,
    flags: [],
    ruleIndex: 0,
    approvers: ["controller"],
    quorum: 1,
    decideBy: null,
    overLimit: null,
    ...changes,
  };
}

export function skippedLine(payableId: string): SkippedLine {
  return {
    payableId,
    publicId: null,
    contactId: null,
    contactName: null,
    amountCents: 1,
    dueDate: null,
    code: "not_due",
    text: "Not due yet.",
  };
}

export function planSummary(lines: readonly PlanLine[]): PlanSummary {
  const totalCents = lines.reduce((sum, line) => sum + line.amountCents, 0);
  return {
    planHash: "plan-hash-1",
    lineCount: lines.length,
    totalCents,
    flaggedCount: 0,
    skippedCount: 0,
    skippedByCode: {},
    decideBy: null,
    cash: [{ date: "2026-11-05", neededCents: totalCents, leftCents: 1_000_000 - totalCents }],
    availableCents: 1_000_000,
    reservedCents: 0,
    source: funding,
  };
}
