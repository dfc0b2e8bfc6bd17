import type { Client } from "@temporalio/client";
import { reviewRun } from "../../activities/runs/review-run.ts";
import type { ActivityContext } from "../../activities/shared/context.ts";
import { followPayments } from "../../activities/runs/follow-payments.ts";
import { reserveMoney } from "../../activities/runs/reserve-money.ts";
import { reviewIncident } from "../../activities/incident/review-incident.ts";
import type { PayOwner } from "../../activities/pay/job.ts";
import { type LaneResult, runLane } from "../../activities/pay/lane.ts";
import { RUN_LINES } from "../../activities/pay/run-lines.ts";
import { limitsOf } from "../../activities/shared/limits-of.ts";
import { planOnce } from "../../activities/runs/make-plan.ts";
import { reviewFailedPayment } from "../../activities/retry/review-failed-payment.ts";
import { payAgain, payCase } from "../../activities/retry/pay-again.ts";
import { openRetryCase } from "../../activities/retry/retry-case.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { definedOnly } from "../../src/contracts/defined-only.ts";
import type { IncidentAssessment, RetryAssessment } from "../../src/contracts/activities.ts";
import type { IncidentDecision } from "../../src/contracts/incident.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { offCycleInputs } from "../../src/domain/off-cycle.ts";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import { recordDecision } from "../../src/store/approvals/decisions.ts";
import { activeHolds, type Hold } from "../../src/store/holds/holds.ts";
import { decideIncident, getIncident } from "../../src/store/incidents/incidents.ts";
import { getRunLine, type RunLine } from "../../src/store/lines/lines.ts";
import { getPlanLines } from "../../src/store/lines/plan-lines.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import type { Json } from "../support/sandbox.ts";
import { inDays, type PlanningWorld, POLICY, test as planningTest } from "./planning-world.ts";

const DAY_MS = 86_400_000;

export interface PlannedBills {
  readonly runId: string;
  /** In the order of the bills. */
  readonly payableIds: readonly string[];
  /** The first of the payables. */
  readonly payableId: string;
}

/** Pays for real with a sandbox and a store, without the workflows that call the activities. */
export class MoneyWorld {
  readonly world: PlanningWorld;
  /** Ids of the workflows that were started or signaled, in order. */
  readonly told: string[] = [];
  /** The error that the next call to Temporal throws, once. */
  temporalFault: Error | undefined;
  /** Replaces parts of the client, for answers that the sandbox never gives. */
  override: {
    readonly listAll?: PaymentsClient["payments"]["listAll"];
    readonly getPayable?: PaymentsClient["payables"]["get"];
    readonly getPayment?: PaymentsClient["payments"]["get"];
    readonly sendMoneyWrite?: PaymentsClient["sendMoneyWrite"];
  } = {};
  /** The acceptance of the ACH debit authorization; undefined by default. */
  achAuthorization: BusinessProfile["achAuthorization"];
  /** The limits of the business's profile; undefined by default. */
  limits: BusinessProfile["limits"];
  #runs = 0;

  /** Makes payments whose answers are lost. */
  lostAnswers(): Pick<MoneyWorld["override"], "sendMoneyWrite"> {
    const client = this.world.context().clientOf("acme");
    return {
      sendMoneyWrite: async (request) => {
        await client.sendMoneyWrite(request);
        return { kind: "no-answer", sent: true, code: "no_answer", reason: "reset" };
      },
    };
  }

  constructor(world: PlanningWorld) {
    this.world = world;
  }

  get store() {
    return this.world.store;
  }

  get control() {
    return this.world.sandbox.control;
  }

  get businessId(): string {
    return this.world.sandbox.business.businessId;
  }

  context(): ActivityContext {
    const tell = (workflowId: string): Promise<void> => {
      const fault = this.temporalFault;
      this.temporalFault = undefined;
      if (fault !== undefined) return Promise.reject(fault);
      this.told.push(workflowId);
      return Promise.resolve();
    };
    const workflow = {
      signalWithStart: (_name: string, options: { workflowId: string }) => tell(options.workflowId),
      getHandle: (workflowId: string) => ({ signal: () => tell(workflowId) }),
    };
    const withDeadline = (_: unknown, work: () => Promise<unknown>) => work();
    const { achAuthorization, limits } = this;
    const context = this.world.context({
      ...this.world.profile,
      ...definedOnly({ achAuthorization, limits }),
    });
    const { listAll, getPayable, getPayment, sendMoneyWrite } = this.override;
    const client = context.clientOf("acme");
    const payments = {
      listAll: listAll ?? client.payments.listAll.bind(client.payments),
      list: client.payments.list.bind(client.payments),
      iteratePages: client.payments.iteratePages.bind(client.payments),
      get: getPayment ?? client.payments.get.bind(client.payments),
    };
    const overridden = {
      payables: {
        get: getPayable ?? client.payables.get.bind(client.payables),
        getPartly: client.payables.getPartly.bind(client.payables),
        list: client.payables.list.bind(client.payables),
        iteratePages: client.payables.iteratePages.bind(client.payables),
      },
      contacts: client.contacts,
      fundingSources: client.fundingSources,
      bankAccounts: client.bankAccounts,
      balance: client.balance,
      payments,
      sendMoneyWrite: sendMoneyWrite ?? client.sendMoneyWrite.bind(client),
    } as unknown as PaymentsClient;
    return Object.defineProperties(context, {
      temporal: { value: { workflow, withDeadline } as unknown as Client },
      ...(Object.keys(this.override).length === 0 ? {} : { clientOf: { value: () => overridden } }),
    });
  }

  /** Enters bills that are due soon, plans a run of them and approves every line. */
  async approvedRun(
    bills: readonly Json[],
    policy: Partial<PayRunPlaybook> = {},
    validMs = 30 * DAY_MS,
  ): Promise<PlannedBills> {
    const planned = await this.plannedRun(bills, policy);
    await this.approve(planned.runId, validMs);
    return planned;
  }

  /** @param partCents of the one bill, paid off-cycle; null for a run by its own selection */
  async plannedRun(
    bills: readonly Json[],
    policy: Partial<PayRunPlaybook> = {},
    partCents: number | null = null,
  ): Promise<PlannedBills> {
    const made: string[] = [];
    for (const bill of bills) made.push(await this.enter(bill));
    return this.#plan(made, policy, partCents);
  }

  /** Enters a bill that is due soon. */
  async enter(bill: Json = {}): Promise<string> {
    const due = { dueDate: inDays(8), issueDate: inDays(-20), totalAmountCents: 10_000 };
    const entered = { ...due, contactId: "v1", status: "approved", ...bill };
    return (await this.control.createPayable(entered)).id;
  }

  /** Plans another run, of a part of an existing bill. */
  planAgain(
    payableIds: readonly string[],
    partCents: number,
    policy: Partial<PayRunPlaybook> = {},
  ): Promise<PlannedBills> {
    return this.#plan(payableIds, policy, partCents);
  }

  async #plan(
    payableIds: readonly string[],
    policy: Partial<PayRunPlaybook>,
    partCents: number | null,
  ): Promise<PlannedBills> {
    this.#runs += 1;
    const part = offCycleInputs({ payableIds, amountCents: partCents });
    const inputs = partCents === null ? {} : part;
    const runId = await this.world.launch(`run-${this.#runs}`, { ...POLICY, ...policy }, inputs);
    await planOnce(this.context(), runId);
    return { runId, payableIds, payableId: payableIds[0] ?? "" };
  }

  async approve(runId: string, validMs = 30 * DAY_MS): Promise<void> {
    const { businessMs } = await this.context().clockOf("acme").now();
    const lines = await getPlanLines(this.store.db, runId);
    await this.store.transaction(async (trx) => {
      await recordDecision(trx, {
        runId,
        planHash: (await getRun(trx, runId))?.planHash ?? "",
        decision: "approve",
        principal: "olga",
        tokenId: "tok_olga",
        roles: ["owner"],
        dropped: [],
        comment: null,
        decidedAtMs: Date.now(),
        expiresAtMs: Math.round(businessMs + validMs),
        outcome: "accepted",
        reason: null,
        approves: lines.map(({ line }) => line),
      });
    });
  }

  /** Takes one turn of the run's workflow: looks, reserves money and pays. */
  async pay(runId: string, stop?: AbortSignal): Promise<LaneResult> {
    const context = this.context();
    await reviewRun(context, runId);
    await reserveMoney(context, runId);
    return this.lane(runId, stop);
  }

  /** Pays the lines that the run has reserved money for. */
  async lane(runId: string, stop = new AbortController().signal): Promise<LaneResult> {
    const work = { stop, beat: () => {} };
    return runLane(this.context(), { ...(await this.ownerOf(runId)), ...work });
  }

  /** Returns the lane that pays a run's lines. */
  async ownerOf(runId: string): Promise<PayOwner> {
    const run = await getRun(this.store.db, runId);
    if (run === undefined) throw new Error(`${runId} is not in the store`);
    const { business, businessId, playbook, policy } = run;
    return {
      owner: runId,
      runId,
      business,
      businessId,
      playbook,
      policy,
      limits: () => limitsOf(this.context(), run),
      lines: RUN_LINES,
      plannedAtMs: run.plannedAtMs ?? 0,
      by: "test/lane/1",
    };
  }

  /** Flags every line of a run for a look, and follows the run; returns how many lines changed. */
  async follow(runId: string): Promise<number> {
    await this.store.db
      .updateTable("run_lines")
      .set({ look: 1 })
      .where("run_id", "=", runId)
      .execute();
    return (await followPayments(this.context(), runId)).changed;
  }

  assess(runId: string) {
    return reviewRun(this.context(), runId);
  }

  /** Stores a playbook for failed payments; without one the built-in rules apply. */
  async failurePlaybook(text: string): Promise<void> {
    await storePlaybook(this.store, { name: "retry-failed", text });
  }

  incident(sourceId: string): Promise<IncidentAssessment> {
    return reviewIncident(this.context(), { business: "acme", sourceId });
  }

  /** Decides about an account that bounced, as a person with the role. */
  async decideIncident(sourceId: string, decision: IncidentDecision): Promise<void> {
    const { businessMs } = await this.context().clockOf("acme").now();
    const incident = await getIncident(this.store.db, this.businessId, sourceId);
    if (incident === undefined) throw new Error(`no incident of ${sourceId}`);
    const said = { decision, by: "carla", reason: "talked to the bank", nowMs: Date.now() };
    await this.store.transaction((trx) => decideIncident(trx, incident, { ...said, businessMs }));
  }

  /** Deletes and returns the ids of workflows with pending signals, sorted. */
  async takeSignals(): Promise<string[]> {
    const rows = await this.store.db
      .deleteFrom("pending_signals")
      .returning("workflow_id")
      .execute();
    return [...new Set(rows.map((row) => row.workflow_id))].toSorted();
  }

  /** Returns the holds that are in force now. */
  async holds(): Promise<Hold[]> {
    const { businessMs } = await this.context().clockOf("acme").now();
    return activeHolds(this.store.db, this.businessId, businessMs);
  }

  look(payableId: string): Promise<RetryAssessment> {
    return reviewFailedPayment(this.context(), { business: "acme", payableId });
  }

  /** Looks at a failed bill, and pays it again if nothing prevents that. */
  payAgain(payableId: string): Promise<RetryAssessment> {
    const stop = new AbortController().signal;
    return payAgain(this.context(), { business: "acme", payableId }, { by: "test/retry/1", stop });
  }

  /** Pays a bill again, even if its case says not yet. */
  async retry(payableId: string, by = "test/retry/1", context = this.context()): Promise<void> {
    const opened = await openRetryCase(context, { business: "acme", payableId }, false);
    if (opened.kind === "ours") await payCase(opened.case, by);
  }

  /** Returns the instant on the service clock before which a line is not tried. */
  async backOffOf(runId: string, payableId: string): Promise<{ readonly notBeforeMs: number }> {
    const row = await this.store.db
      .selectFrom("run_lines")
      .select("not_before_ms")
      .where("run_id", "=", runId)
      .where("payable_id", "=", payableId)
      .executeTakeFirstOrThrow();
    return { notBeforeMs: row.not_before_ms };
  }

  async line(runId: string, payableId: string): Promise<RunLine> {
    const line = await getRunLine(this.store.db, runId, payableId);
    if (line === undefined) throw new Error(`${runId} has no line for ${payableId}`);
    return line;
  }

  async paymentsOf(payableId: string): Promise<{ id: string; status: string }[]> {
    const found = await this.context().clientOf("acme").payments.listAll({ payableId });
    return found.map(({ id, status }) => ({ id, status }));
  }
}

export const test = planningTest.extend("world", ({ planning }) => new MoneyWorld(planning));
