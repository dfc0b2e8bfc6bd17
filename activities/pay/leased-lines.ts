import type { ClockReading } from "../../src/business/clock.ts";
import { leaseLines } from "../../src/store/lines/line-leases.ts";
import { openSubjects } from "../../src/store/payables/open-subjects.ts";
import { LEASE_MS, type ActivityContext } from "../shared/context.ts";
import { outcomeOfError } from "./error-outcome.ts";
import { groupOf } from "./group-commit.ts";
import type { PayJob, PayOwner, PreparedJob } from "./job.ts";
import { prepareLine, prepareListed } from "./judge-line.ts";
import { payerNow } from "./payer.ts";
import { readBill, readByPage } from "./read-bills.ts";
import { recordOutcome } from "./record.ts";

/**
 * Lines that are leased and read together: only as many as are read well before a read is too old.
 */
const LEASE_FIRST = 80;
const LEASE_LEAST = 20;
const LEASE_MOST = 240;
const READ_LASTS_MS = 20_000;

/** Bills that a lane reads by themselves at the same time. */
const SINGLY_AT_ONCE = 10;

/** Lines that a lane has leased, with what was read of them, until the gate is asked about them. */
export class LeasedLines {
  readonly #context: ActivityContext;
  readonly #owner: PayOwner;
  /** Lines that were read, for the gate. */
  #ready: PreparedJob[] = [];
  /** Lines that were not read because the service can't be read now. */
  #unread: PayJob[] = [];
  #blocked = false;
  #leases = LEASE_FIRST;

  constructor(context: ActivityContext, owner: PayOwner) {
    this.#context = context;
    this.#owner = owner;
  }

  /** True if nothing was leased because the whole business waits. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  take(most: number): PreparedJob[] {
    return this.#ready.splice(0, most);
  }

  /** Takes back lines that the gate was not asked about. */
  putBack(jobs: readonly PreparedJob[]): void {
    this.#ready.unshift(...jobs);
  }

  /** Removes and returns everything that is left, read or not. */
  takeAll(): PayJob[] {
    return [...this.#ready.splice(0), ...this.#unread.splice(0)];
  }

  /** Leases the next lines and reads their bills; returns the number of lines. */
  async lease(): Promise<number> {
    const { runId, businessId, by } = this.#owner;
    const clock = await this.#now();
    const { lines, blockedUntilMs } = await groupOf(this.#context.store, businessId).transaction(
      (trx) =>
        leaseLines(trx, {
          runId,
          businessId,
          by,
          leaseMs: LEASE_MS,
          serviceMs: clock.serviceMs,
          limit: this.#leases,
        }),
    );
    this.#blocked = blockedUntilMs !== null;
    if (lines.length === 0) return 0;
    const begun = performance.now();
    await this.#read(lines);
    const tookMs = Math.max(1, performance.now() - begun);
    const fits = Math.floor((lines.length * READ_LASTS_MS) / tookMs);
    this.#leases = Math.min(LEASE_MOST, Math.max(LEASE_LEAST, fits));
    return lines.length;
  }

  async #read(jobs: readonly PayJob[]): Promise<void> {
    const { db } = this.#context.store;
    const ids = jobs.map(({ plan }) => plan.payableId);
    // Each lookup of an open bill counts, so the bill is read by itself and at its own time.
    const open = await openSubjects(db, this.#owner.businessId, ids);
    const calm = jobs.filter(({ plan }) => !open.has(plan.payableId));
    const listed = await readByPage(this.#context, this.#owner, calm, await this.#now());
    const payer =
      listed.size === 0 ? undefined : await payerNow(this.#context, this.#owner.business);
    const singly: PayJob[] = [];
    for (const job of jobs) {
      const read = open.has(job.plan.payableId) ? undefined : listed.get(job.plan.payableId);
      const clock = await this.#now();
      const prepared = read && payer && prepareListed(this.#owner, job, { ...read, payer }, clock);
      if (prepared === undefined) singly.push(job);
      else this.#ready.push(prepared);
    }
    const work = async (): Promise<void> => {
      while (!this.#blocked) {
        const job = singly.shift();
        if (job === undefined) return;
        await this.#readSingly(job);
      }
    };
    await Promise.all(Array.from({ length: SINGLY_AT_ONCE }, work));
    this.#unread.push(...singly);
  }

  async #readSingly(job: PayJob): Promise<void> {
    try {
      const read = await readBill(this.#context, this.#owner, job, await this.#now());
      this.#ready.push(prepareLine(this.#owner, job, read, await this.#now()));
    } catch (error) {
      const outcome = await outcomeOfError(this.#context, this.#owner, job, error);
      if (outcome.kind === "business-wait") this.#blocked = true;
      await recordOutcome(this.#context, this.#owner, job, outcome);
    }
  }

  #now(): Promise<ClockReading> {
    return this.#context.clockOf(this.#owner.business).now();
  }
}
