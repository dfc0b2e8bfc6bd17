import { expect } from "vitest";
import { reviewCancellation } from "../../activities/cancel/review-cancellation.ts";
import { cancelPayments } from "../../activities/cancel/cancel-payments.ts";
import { choosePayments } from "../../activities/cancel/choose-payments.ts";
import type { CancellationAssessment } from "../../src/contracts/cancellation.ts";
import { cancelScheduledPaymentsId } from "../../src/contracts/workflow-kinds.ts";
import type { CancelChoice } from "../../src/contracts/playbook.ts";
import {
  type CancellationPolicy,
  cancelOfPayments,
} from "../../src/domain/cancellations/policy.ts";
import { subjectFacts } from "../../src/ledger/rows.ts";
import {
  type CancellationItem,
  listItems,
} from "../../src/store/cancellations/cancellation-items.ts";
import { insertCancellation } from "../../src/store/cancellations/cancellations.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { openSubjects } from "../../src/store/payables/open-subjects.ts";
import { type Json, netCreditByPayable } from "../support/sandbox.ts";
import { type MoneyWorld, type PlannedBills, test as moneyTest } from "./money-world.ts";
import { inDays } from "./planning-world.ts";

/** Requests cancellations and withholdings, and takes the turns of their workflow. */
export class CancelWorld {
  readonly money: MoneyWorld;
  #made = 0;

  constructor(money: MoneyWorld) {
    this.money = money;
  }

  /** Requests the cancellation of payments and chooses them; returns the request's id. */
  async ask(choose: Partial<CancelChoice>): Promise<string> {
    const policy = cancelOfPayments([]);
    return this.request({
      policy: { ...policy, choose: { ...policy.choose, payments: null, ...choose } },
    });
  }

  /** Returns the playbook name of a run, by which a cancellation chooses the run's bills. */
  static playbookOf(runId: string): string {
    return runId.split("/")[2] ?? "";
  }

  async request(asked: {
    readonly policy: CancellationPolicy;
    readonly playbook?: string;
    readonly runId?: string;
  }): Promise<string> {
    this.#made += 1;
    const workflowId = cancelScheduledPaymentsId("acme", `test-${this.#made}`);
    await this.money.store.transaction((trx) =>
      insertCancellation(trx, {
        workflowId,
        businessId: this.money.businessId,
        business: "acme",
        playbook: asked.playbook ?? "",
        policy: asked.policy,
        runId: asked.runId ?? null,
        reason: "wrong",
        requestedBy: "olga",
        nowMs: Date.now(),
      }),
    );
    await choosePayments(this.money.context(), workflowId);
    return workflowId;
  }

  look(id: string): Promise<CancellationAssessment> {
    return reviewCancellation(this.money.context(), id);
  }

  /**
   * Takes turns of the workflow until it has ended; each takes half a minute of the service clock.
   */
  async turns(id: string, most = 12): Promise<CancellationAssessment> {
    for (let turn = 0; ; turn += 1) {
      const now = await this.look(id);
      if (now.ended || turn >= most) return now;
      const stop = new AbortController().signal;
      await cancelPayments(this.money.context(), { id, by: `test/${turn}`, stop });
      await this.money.world.pass(30_000);
    }
  }

  /** Makes a request look older by `byMs` milliseconds. */
  async age(id: string, byMs: number): Promise<void> {
    await this.money.store.db
      .updateTable("cancellations")
      .set((eb) => ({ requested_at_ms: eb("requested_at_ms", "-", byMs) }))
      .where("workflow_id", "=", id)
      .execute();
  }

  /** Returns the notices about a cancellation. */
  async told(id: string): Promise<string[]> {
    const notices = await listNotices(this.money.store.db, { limit: 200 });
    return notices
      .filter(({ data }) => data["id"] === id)
      .map(({ kind, text }) => `${kind}: ${text}`);
  }

  itemsOf(id: string): Promise<CancellationItem[]> {
    return listItems(this.money.store.db, id);
  }

  /** Returns each payment, or each bill without one, with its state. */
  async shown(id: string): Promise<string[]> {
    const items = await this.itemsOf(id);
    return items.map(({ paymentId, payableId, state }) => `${paymentId ?? payableId} ${state}`);
  }

  async bill(totalAmountCents: number): Promise<string> {
    const { id } = await this.money.control.createPayable({
      contactId: "v1",
      totalAmountCents,
      dueDate: inDays(8),
      status: "approved",
    });
    return id;
  }

  /** Makes an external payment of a bill at the service. */
  async payment(payableId: string, more: Json = {}): Promise<string> {
    const { status, body } = await this.money.world.sandbox.api<{ payments: { id: string }[] }>(
      "POST",
      "/v1/payments",
      {
        key: crypto.randomUUID(),
        body: { payableId, paymentRail: "SERVICE", fundingSource: "balance", ...more },
      },
    );
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.payments[0]?.id ?? "";
  }

  /** Returns the payables that are on hold now. */
  async held(): Promise<string[]> {
    const holds = await this.money.holds();
    return holds.map(({ value }) => value);
  }

  async requestUnderWay(payableId: string): Promise<void> {
    const { store, businessId } = this.money;
    await expect
      .poll(() => openSubjects(store.db, businessId, [payableId]), { interval: 20 })
      .toContain(payableId);
  }

  /** Leaves a bill whose worker died after its request was written, and perhaps sent. */
  async left(planned: PlannedBills): Promise<PlannedBills> {
    await this.lost(planned.payableId, () => this.money.pay(planned.runId));
    return planned;
  }

  /** Runs a payment that dies after its request was written, and perhaps sent. */
  async lost(payableId: string, paying: () => Promise<unknown>): Promise<void> {
    this.money.override = { sendMoneyWrite: () => new Promise(() => {}) };
    void paying();
    await this.requestUnderWay(payableId);
    this.money.override = {};
  }

  /** Delivers the request of a dead worker to the service. */
  async arrive(payableId: string): Promise<string[]> {
    const { store, businessId, world } = this.money;
    const { attempts } = await subjectFacts(store.db, businessId, payableId);
    const attempt = attempts.at(-1);
    const send = attempt?.sends.at(-1);
    const sent = send?.body ?? "";
    const { status, body } = await world.sandbox.api<{ payments: { id: string }[] }>(
      "POST",
      send?.path ?? "",
      {
        key: attempt?.idempotencyKey ?? "",
        ...(sent === "" ? {} : { body: JSON.parse(sent) as Json }),
      },
    );
    expect(status).toBe(201);
    return body.payments.map(({ id }) => id);
  }

  /** Leases the lines that a dead worker has left. */
  async leaseAgain({ runId, payableIds }: PlannedBills): Promise<void> {
    await this.money.store.db
      .updateTable("run_lines")
      .set({ lease_until_ms: 0, not_before_ms: 0 })
      .where("payable_id", "in", payableIds)
      .execute();
    await this.money.pay(runId);
  }

  /** Returns the keys of the cancels that the service has received for a payment. */
  async cancelKeys(paymentId: string): Promise<Set<string | null>> {
    const path = `/v1/payments/${paymentId}/cancel`;
    const requests = (await this.money.control.requests()).filter((each) => each.path === path);
    return new Set(requests.map(({ key }) => key));
  }

  /** Checks that leasing the bills again pays none of them, however much time passes. */
  async staysUnpaid(planned: PlannedBills): Promise<void> {
    await this.money.world.pass(600_000);
    await this.leaseAgain(planned);
    await this.money.control.advance("P14D");
    const net = netCreditByPayable(await this.money.control.ledger());
    for (const id of planned.payableIds) expect(net.get(id) ?? 0).toBe(0);
  }
}

export const test = moneyTest.extend("cancels", ({ world }) => new CancelWorld(world));
