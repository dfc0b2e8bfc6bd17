import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type {
  BankAnswer,
  BankBooks,
  BankQuestion,
  BankRequest,
  LedgerEntry,
  LedgerTotals,
  RefusedMove,
} from "./moves.ts";
import {
  lastOrder,
  ledgerIdOf,
  markAnswered,
  onBankMove,
  outboxBooks,
  queuedOrders,
} from "./outbox.ts";

const program = fileURLToPath(new URL("./main.ts", import.meta.url));
const batchSize = 500;
const pageSize = 5_000;
const answerTimeoutMs = 15_000;
const firstRestartMs = 100;
const slowestRestartMs = 5_000;
const looksAtBooks = 10;
const compareEveryMs = 5_000;
const deliverAgainMs = 1_000;

/** What `GET /sandbox/health` says about the bank. */
export interface BankHealth {
  ok: boolean;
  pid: number | null;
  restarts: number;
  /** Number of orders that the bank has not answered yet. */
  queued: number;
  /** Moves that the bank refused to book: a bug in the service. */
  refusals: RefusedMove[];
  /** How the service's books differ from the bank's; null if they don't. */
  mismatch: string | null;
}

/**
 * The service's connection to its bank. It starts the bank's process, restarts it if it dies, and
 * delivers the ordered moves in their order until each has been answered.
 */
export class BankLink {
  readonly #db: DatabaseSync;
  readonly #dataDir: string;
  readonly #cashOf: CashBook | undefined;
  readonly #waiting = new Map<number, (answer: BankAnswer | Error) => void>();
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #pumping: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;
  #nextId = 1;
  #restarts = 0;
  #reviving = false;
  #mismatch: string | null = null;
  #comparedOrder = -1;
  #orderAtLastLook = -1;
  #comparing: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param options.db the service's database, with `bankDdl` applied.
   * @param options.dataDir where the bank keeps its own database.
   * @param options.cashOf returns what businesses' balances hold by the service's books, to be
   * compared.
   */
  constructor(options: { db: DatabaseSync; dataDir: string; cashOf?: CashBook }) {
    this.#db = options.db;
    this.#cashOf = options.cashOf;
    this.#dataDir = options.dataDir;
  }

  /** Starts the bank and delivers what an earlier process left in the outbox. */
  async start(): Promise<void> {
    // Not at once: an order that arrives while a delivery is ending must start another delivery.
    const wake = () => setImmediate(() => void this.#pump().catch(() => undefined));
    this.#stopListening = onBankMove(this.#db, wake);
    this.#again = setInterval(wake, deliverAgainMs);
    this.#again.unref();
    this.#comparing = setInterval(() => this.#compareIfNew(), compareEveryMs);
    this.#comparing.unref();
    await this.#launch();
    await this.flush();
  }

  /**
   * Waits until the bank has answered everything ordered so far, then compares the books. If new
   * orders keep coming in between, the comparison is left for a quieter moment.
   *
   * @throws if the bank does not answer.
   */
  async flush(): Promise<void> {
    for (let look = 1; ; look += 1) {
      await this.#pump();
      const order = lastOrder(this.#db);
      const isAllAnswered = queuedOrders(this.#db, 1).length === 0;
      const bank = isAllAnswered ? await this.#ask("books", { op: "books" }) : undefined;
      // A move that is ordered between the two readings would look like a difference.
      if (bank === undefined || lastOrder(this.#db) !== order) {
        if (look === looksAtBooks) return;
        continue;
      }
      const { booked } = outboxBooks(this.#db);
      this.#comparedOrder = order;
      const cash = this.#cashOf?.(this.#db, Object.keys(bank.balances));
      const mismatch = differenceOf({ totals: booked, cash }, bank);
      if (mismatch !== null && mismatch !== this.#mismatch) shout(`the books differ: ${mismatch}`);
      this.#mismatch = mismatch;
      return;
    }
  }

  /**
   * Returns the bank's whole ledger in the order in which it was booked, including everything
   * ordered so far.
   */
  async ledger(): Promise<LedgerEntry[]> {
    await this.flush();
    const entries: LedgerEntry[] = [];
    let afterSeq = 0;
    for (;;) {
      const page = await this.#ask("entries", { op: "entries", afterSeq, limit: pageSize });
      entries.push(...page.entries);
      if (page.entries.length < pageSize) return entries;
      afterSeq = page.lastSeq;
    }
  }

  /** Returns the bank's health after a comparison of the books, if the bank answers. */
  async comparedHealth(): Promise<BankHealth> {
    await this.flush().catch(() => undefined);
    return this.health();
  }

  health(): BankHealth {
    const { queued, refusals } = outboxBooks(this.#db);
    const pid = this.#child?.connected === true ? (this.#child.pid ?? null) : null;
    const ok = pid !== null && refusals.length === 0 && this.#mismatch === null;
    return { ok, pid, restarts: this.#restarts, queued, refusals, mismatch: this.#mismatch };
  }

  /** Delivers what is still queued if the bank answers, then ends its process. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    await this.#pump().catch(() => undefined);
    this.#stopped = true;
    this.#stopListening?.();
    clearInterval(this.#again);
    clearInterval(this.#comparing);
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    if (child.connected) child.disconnect();
    const patience = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await exited;
    clearTimeout(patience);
  }

  /**
   * Compares the books once there are no new orders: with many moves, adding them up takes a while.
   */
  #compareIfNew(): void {
    if (this.#stopped) return;
    const order = lastOrder(this.#db);
    const isNew = order !== this.#comparedOrder;
    if (isNew && order === this.#orderAtLastLook) void this.flush().catch(() => undefined);
    this.#orderAtLastLook = order;
  }

  async #launch(): Promise<void> {
    this.#starting ??= this.#spawn().finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  async #spawn(): Promise<void> {
    const child = fork(program, ["--data-dir", this.#dataDir], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: [],
    });
    this.#child = child;
    child.on("message", (message) => this.#answered(message as BankAnswer));
    // A send to a dying process also fails here; its exit is what counts.
    child.on("error", () => undefined);
    child.once("exit", () => void this.#died(child));
    await this.#ask("books", { op: "books" });
  }

  async #died(child: ChildProcess): Promise<void> {
    for (const settle of this.#waiting.values()) settle(new Error("the bank's process ended"));
    this.#waiting.clear();
    if (this.#stopped) return;
    shout(`its process ended (${child.signalCode ?? child.exitCode}); starting it again`);
    // A failed start also arrives here, but only one loop may try.
    if (this.#reviving) return;
    this.#reviving = true;
    for (let pauseMs = firstRestartMs; !this.#stopped; pauseMs *= 2) {
      this.#restarts += 1;
      const alive = await this.#launch().then(
        () => true,
        () => false,
      );
      if (alive) break;
      await sleep(Math.min(pauseMs, slowestRestartMs), undefined, { ref: false });
    }
    this.#reviving = false;
    await this.flush().catch(() => undefined);
  }

  #answered(answer: BankAnswer): void {
    const settle = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    settle?.(answer.op === "error" ? new Error(answer.message) : answer);
  }

  async #ask<Op extends BankQuestion["op"]>(
    op: Op,
    question: Extract<BankQuestion, { op: Op }>,
  ): Promise<Extract<BankAnswer, { op: Op }>> {
    const child = this.#child;
    if (this.#stopped || child?.connected !== true) throw new Error("the bank is not running");
    const id = this.#nextId++;
    const answer = await new Promise<BankAnswer | Error>((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        resolve(new Error("the bank does not answer"));
      }, answerTimeoutMs);
      this.#waiting.set(id, (result) => {
        clearTimeout(timer);
        resolve(result);
      });
      const request: BankRequest = { id, ledgerId: ledgerIdOf(this.#db), ...question };
      child.send(request);
    });
    if (answer instanceof Error) throw answer;
    if (answer.op !== op) throw new Error(`the bank answered ${answer.op} to ${op}`);
    return answer as Extract<BankAnswer, { op: Op }>;
  }

  /** Delivers until nothing is queued; joins a delivery that is under way. */
  #pump(): Promise<void> {
    this.#pumping ??= this.#deliver().finally(() => (this.#pumping = undefined));
    return this.#pumping;
  }

  async #deliver(): Promise<void> {
    await this.#starting;
    for (;;) {
      const orders = queuedOrders(this.#db, batchSize);
      if (orders.length === 0) return;
      const { refusals } = await this.#ask("apply", { op: "apply", orders });
      markAnswered(this.#db, orders, refusals);
      for (const { moveId, reason } of refusals) shout(`refused the move ${moveId}: ${reason}`);
    }
  }
}

type CashBook = (db: DatabaseSync, businessIds: readonly string[]) => ReadonlyMap<string, number>;

function differenceOf(
  service: { totals: LedgerTotals; cash: ReadonlyMap<string, number> | undefined },
  bank: BankBooks,
): string | null {
  const moved = (["debit", "credit", "return", "refund"] as const).flatMap((kind) => {
    const ours = service.totals[kind] ?? { entries: 0, amountCents: 0 };
    const theirs = bank.totals[kind] ?? { entries: 0, amountCents: 0 };
    if (ours.entries === theirs.entries && ours.amountCents === theirs.amountCents) return [];
    return [
      `${kind}: service ${ours.entries} moves, ${ours.amountCents} cents; ` +
        `bank ${theirs.entries} moves, ${theirs.amountCents} cents`,
    ];
  });
  const held = Object.entries(bank.balances).flatMap(([businessId, theirs]) => {
    const ours = service.cash?.get(businessId) ?? theirs;
    if (ours === theirs) return [];
    return [`balance of ${businessId}: service ${ours} cents; bank ${theirs} cents`];
  });
  const differences = [...moved, ...held];
  return differences.length === 0 ? null : differences.join("; ");
}

function shout(text: string): void {
  process.stderr.write(`sandbox: BANK: ${text}\n`);
}
