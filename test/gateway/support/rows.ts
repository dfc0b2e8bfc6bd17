import { definedOnly } from "../../../src/contracts/defined-only.ts";
import type { LineState } from "../../../src/contracts/line-states.ts";
import type { PlanLine, PlanSummary } from "../../../src/contracts/pay-run.ts";
import { planHash, policyHash } from "../../../src/domain/approvals/hashes.ts";
import { hashOfLine } from "../../../src/domain/planning/line-hash.ts";
import { claimPayables } from "../../../src/store/payables/claims.ts";
import { lineApproved } from "../../../src/store/approvals/line-approvals.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import type { Store } from "../../../src/store/index.ts";
import { getPlanLine, getPlanLines } from "../../../src/store/lines/plan-lines.ts";
import { notePlan } from "../../../src/store/plans/plan-trail.ts";
import { type FirstPlan, storePlan } from "../../../src/store/plans/plan-writes.ts";
import { applyPlaybook } from "../../../src/store/playbooks/playbooks.ts";
import { recordLaunch, setRunPhase } from "../../../src/store/runs/runs.ts";
import { setSubscriptions } from "../../../src/store/payables/subscriptions.ts";
import { payRunPlaybook } from "../../support/pay-run-playbook.ts";

const PLAYBOOK = payRunPlaybook({
  approve: [
    { review: false, overCents: 1_000_000, where: null, by: ["owner"], quorum: 1 },
    { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
  ],
});

export function planLine(payableId: string, changes: Partial<PlanLine> = {}): PlanLine {
  return {
    payableId,
    version: 1,
    lineHash: "",
    publicId: `BILL-${payableId}`,
    contactId: `con_${payableId}`,
    contactName: `Vendor of ${payableId}`,
    description: null,
    amountCents: 10_000,
    totalCents: 10_000,
    bankLast4: "6789",
    record: { updatedAt: null, shown: [] },
    dueDate: "2026-12-01",
    // Later than every day on which tests run.
    executionDate: "2029-11-26",
    arrivalDate: "2026-12-01",
    dateRule: "by-due-date",
    clearing: "STANDARD",
    funding: {
      sourceId: "balance",
      rail: "SERVICE",
      kind: "balance",
      name: "Balance",
      last4: null,
      pay: { paymentRail: "SERVICE", fundingSource: "balance" },
      needsAchAuthorization: false,
    },
    flags: [],
    ruleIndex: 1,
    approvers: ["controller", "owner"],
    quorum: 1,
    decideBy: null,
    overLimit: null,
    ...changes,
  };
}

export interface SeededRun {
  readonly runId: string;
  readonly planHash: string;
}

export interface Seed {
  readonly business?: string;
  readonly businessId?: string;
  readonly period?: string;
  readonly launchedBy?: string;
  readonly author?: string;
  /** The playbook's rule for bills whose day has passed; "ask" by default. */
  readonly late?: "ask" | "next-business-day";
  readonly lines: readonly PlanLine[];
  /** Changes of the plan's summary; by default $10,000.00 are available, and no source is named. */
  readonly summary?: Partial<PlanSummary>;
}

/** Returns a playbook with the rules that the lines carry. */
function playbookOf(lines: readonly PlanLine[]) {
  const approve = PLAYBOOK.approve.map((rule, index) => {
    const line = lines.find(({ ruleIndex }) => ruleIndex === index);
    if (line === undefined) return rule;
    const { approvers: by, quorum, stages, besidesCents } = line;
    const overPer = besidesCents === undefined ? undefined : ("vendor-week" as const);
    return { ...rule, by, quorum, ...definedOnly({ stages, overPer }) };
  });
  return { ...PLAYBOOK, approve };
}

/** Creates a run whose plan waits for approval: claimed, planned, subscribed. */
export async function seedRun(store: Store, seed: Seed): Promise<SeededRun> {
  const businessId = seed.businessId ?? "biz_acme";
  const business = seed.business ?? "acme";
  const nowMs = Date.now();
  const policy = { ...playbookOf(seed.lines), late: seed.late ?? ("ask" as const) };
  const lines = seed.lines.map((line) => ({ ...line, lineHash: hashOfLine(businessId, line) }));
  return store.transaction(async (trx) => {
    const { revision } = await applyPlaybook(trx, {
      name: "weekly",
      kind: "pay-run",
      text: "kind: pay-run",
      compiled: { ...policy, business },
      business,
      author: seed.author ?? "ada",
      authorTokenId: null,
      nowMs,
    });
    const { run, runId } = await recordLaunch(trx, {
      businessId,
      business,
      playbook: "weekly",
      playbookRevision: revision,
      policy,
      period: seed.period ?? "2026-11-20",
      launchedBy: seed.launchedBy ?? "lou",
      launchedByTokenId: null,
      nowMs,
    });
    const payableIds = seed.lines.map((line) => line.payableId);
    await claimPayables(trx, { businessId, payableIds, owner: runId, nowMs });
    const hash = planHash({
      lineHashes: lines.map((line) => line.lineHash),
      playbook: "weekly",
      playbookRevision: revision,
      policyHash: policyHash(policy),
    });
    const totalCents = seed.lines.reduce((sum, line) => sum + line.amountCents, 0);
    const first: FirstPlan = {
      run,
      plan: {
        summary: {
          planHash: hash,
          lineCount: seed.lines.length,
          totalCents,
          flaggedCount: 0,
          skippedCount: 1,
          skippedByCode: { not_due: 1 },
          decideBy: null,
          cash: [],
          availableCents: 1_000_000,
          reservedCents: 0,
          source: null,
          ...seed.summary,
        },
        lines,
        skipped: [
          {
            payableId: "pay_later",
            publicId: null,
            contactId: null,
            contactName: null,
            amountCents: 500,
            dueDate: "2027-06-01",
            code: "not_due",
            text: "It is due after the next run.",
          },
        ],
      },
      nowMs,
    };
    const stored = await storePlan(trx, first);
    await notePlan(trx, first);
    await setRunPhase(trx, runId, { phase: "awaiting-approval" });
    await setSubscriptions(trx, {
      businessId,
      business,
      payableIds,
      owner: runId,
      untilMs: nowMs + 60 * 86_400_000,
    });
    return { runId, planHash: stored.planHash };
  });
}

/** Approves lines of a run, as a person with the right role does. */
export async function approveLines(
  store: Store,
  run: SeededRun,
  payableIds: readonly string[],
  expiresAtMs = Date.now() + 86_400_000,
): Promise<void> {
  const approves = await getPlanLines(store.db, run.runId, { payableIds });
  await store.transaction((trx) =>
    recordDecision(trx, {
      runId: run.runId,
      planHash: run.planHash,
      decision: "approve",
      principal: "cora",
      tokenId: null,
      roles: ["controller"],
      dropped: [],
      comment: null,
      decidedAtMs: Date.now(),
      expiresAtMs,
      outcome: "accepted",
      reason: null,
      approves: approves.map(({ line }) => line),
    }),
  );
}

/** True if a line of a run, as it is planned, has its approvals. */
export async function isApproved(store: Store, runId: string, payableId: string): Promise<boolean> {
  const plan = await getPlanLine(store.db, runId, payableId);
  if (plan === undefined) throw new Error(`${runId} has no line of ${payableId}`);
  return lineApproved(store.db, { ...plan, runId }, Date.now());
}

/** Sets a line's state and facts directly in the store. */
export async function setLine(
  store: Store,
  runId: string,
  payableId: string,
  change: {
    readonly state: LineState;
    readonly reasonCode?: string;
    readonly reason?: string;
    readonly paymentIds?: readonly string[];
    readonly attempts?: number;
    readonly executionDate?: string;
  },
): Promise<void> {
  await store.db
    .updateTable("run_lines")
    .set({
      ...(change.executionDate === undefined ? {} : { execution_date: change.executionDate }),
      ...(change.attempts === undefined ? {} : { attempts: change.attempts }),
      state: change.state,
      reason_code: change.reasonCode ?? null,
      reason: change.reason ?? null,
      payment_ids: JSON.stringify(change.paymentIds ?? []),
    })
    .where("run_id", "=", runId)
    .where("payable_id", "=", payableId)
    .execute();
}

export async function lineState(
  store: Store,
  runId: string,
  payableId: string,
): Promise<string | undefined> {
  const row = await store.db
    .selectFrom("run_lines")
    .select("state")
    .where("run_id", "=", runId)
    .where("payable_id", "=", payableId)
    .executeTakeFirst();
  return row?.state;
}
