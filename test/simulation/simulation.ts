import { Company } from "./company/company.ts";
import { Others } from "./company/others.ts";
import { People } from "./company/people.ts";
import { type Commit, workflowCode } from "./hooks.ts";
import { Processes } from "./processes.ts";
import { Referee } from "./rules/referee.ts";
import { StoreFacts } from "./rules/store-facts.ts";
import { Violation } from "./rules/violation.ts";
import { BankClock } from "./service/bank-clock.ts";
import { Book } from "./service/book.ts";
import { FaultPlan } from "./service/kinds.ts";
import { Life } from "./service/life.ts";
import { Service } from "./service/service.ts";
import { connectTo } from "./service/undici-stand-in.ts";
import { Webhooks } from "./service/webhooks.ts";
import type { Execution } from "./temporal/execution.ts";
import { StoreFile } from "./store-file.ts";
import { StoreTroubles } from "./store-troubles.ts";
import { TemporalServer } from "./temporal/server.ts";
import { Troubles } from "./troubles.ts";
import { IdleLoops } from "./world/idle-loops.ts";
import { World } from "./world/world.ts";

export interface SeedOptions {
  /** Faults by number that are left out, to shorten a trace. */
  readonly without?: ReadonlySet<number>;
  /** Ends at this instant, if it has not ended before. */
  readonly untilMs?: number;
  /** Ends after so many steps. */
  readonly steps?: number;
}

const BANK_ACCOUNT = "bank_main";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Simulated days after which a seed ends, on the bank's clock. */
const LONGEST_DAYS = 18;
/** How long after everything has healed a bill may still be at work. */
const PATIENCE_MS = 1.5 * HOUR_MS;
/** More turns than any seed needs by real clocks: so many, and for each bill some more. */
const STEPS_MOST = 60_000;
const STEPS_A_BILL = 8_000;
/** Steps after which it is asked again who claims what. */
const CLAIMS_EVERY = 40;
/** In a sandbox everything looks so often whether it is due; here where there is something to see. */
const SANDBOX_IDLE_MS: ReadonlySet<number> = new Set([1_000, 5_000]);
const SANDBOX_SLEEP_MS = 30_000;

/** Everything of one seed: the company, its service, its processes, and what goes wrong. */
export class Simulation {
  readonly world: World;
  readonly #untilMs: number;
  readonly #steps: number;
  readonly #company: Company;
  readonly #faults: FaultPlan;
  readonly #temporal: TemporalServer;
  readonly #service: Service;
  readonly #facts: StoreFacts;
  readonly #file: StoreFile;
  readonly #referee: Referee;
  readonly #people: People;
  readonly #others: Others;
  readonly #processes: Processes;
  readonly #troubles: Troubles;
  readonly #storeTroubles: StoreTroubles;

  constructor(seed: number, storePath: string, options: SeedOptions) {
    const { without = new Set() } = options;
    this.#untilMs = options.untilMs ?? Infinity;
    const company = new Company(seed);
    this.#company = company;
    const world = new World(seed, company.startsMs);
    this.world = world;
    const healsAtMs = world.nowMs + company.troubleMs;
    this.#faults = new FaultPlan(world, { kinds: company.faults, healsAtMs, left: without });
    const faults = this.#faults;
    const clock = new BankClock(world, company.scale, company.serviceSkewMs);
    const book = new Book(world.stream("ids"), company.balanceCents);
    company.fill(book);
    const mostSteps = STEPS_MOST + STEPS_A_BILL * book.payables.size;
    this.#steps = options.steps ?? mostSteps;
    const life = new Life(world, book, clock, company.failures);
    this.#service = new Service(world, {
      faults,
      clock,
      book,
      life,
      bankAccountId: BANK_ACCOUNT,
      latestMs: company.latestMs,
      habits: company.habits,
      readMs: company.readMs,
    });
    this.#others = new Others(world, { book, life, clock, kinds: company.doings });
    if (company.faults.has("poison")) this.#service.poisoned.add("bill_1");
    this.#temporal = new TemporalServer(world, workflowCode, 400);
    if (company.scale !== 1) {
      const loops = new IdleLoops(world, SANDBOX_SLEEP_MS);
      this.#temporal.idle = { ms: SANDBOX_IDLE_MS, loops };
    }
    connectTo(this.#service);
    this.#facts = new StoreFacts(storePath);
    this.#file = new StoreFile(storePath);
    this.#processes = new Processes({ world, company, temporal: this.#temporal, storePath });
    const webhooks = new Webhooks(world, {
      faults,
      clock,
      secret: company.profile.webhookSecrets[0] ?? "",
      deliver: (body, headers) => this.#processes.webhook(body, headers),
    });
    life.atEvent = (...event) => {
      this.#temporal.idle?.loops.wake(true);
      if (company.hasWebhooks) webhooks.emit(...event);
    };
    webhooks.atAcknowledged = (eventId) => this.#referee.atAcknowledged(eventId);
    this.#people = new People(world, this.#processes.ask, {
      acts: company.acts,
      isHasty: company.scale !== 1,
      launches: company.paying.launches,
      payableIds: [...book.payables.keys()],
      contactIds: [...book.contacts.keys()],
      paymentIds: () => book.payments.map(({ id }) => id),
    });
    this.#people.calmFromMs = healsAtMs;
    this.#referee = new Referee(world, {
      ...{ facts: this.#facts, bank: this.#service.bank, book, said: this.#people.said },
      businessId: company.profile.businessId,
      sandbox: company.scale !== 1,
      businessMsAt: (atMs) => clock.nowMs(atMs),
      isOnlyRun: company.paying.launches.length === 1,
      vendorPerWeekCents: company.paying.vendorPerWeekCents,
    });
    const { troubles, steady } = company;
    this.#troubles = new Troubles(world, faults, troubles, steady, this.#temporal, (node) =>
      this.#processes.restart(node),
    );
    this.#storeTroubles = new StoreTroubles(world, faults, company.storeTroubles, {
      file: this.#file,
      replace: (why, downMs) => this.#replaceStore(why, downMs),
      restored: (backedUpMs) => this.#people.storeRestored(backedUpMs),
    });
  }

  get faultsMade(): number {
    return this.#faults.made;
  }

  /** What the store says of a bill in the end, or where there is none of all. */
  factsOf(payableId: string): World["told"] {
    const { nowMs } = this.world;
    const facts = payableId === "" ? this.#facts.summary() : this.#facts.of(payableId);
    return facts.map((what) => ({ atMs: nowMs, who: "store", what }));
  }

  /** A process of the engine has committed. */
  committed({ isFlushed, isNews }: Commit): void {
    if (isNews) this.#temporal.idle?.loops.wake(true);
    if (this.#company.storeTroubles.has("power-cut")) this.#file.committed(isFlushed);
  }

  async run(): Promise<string> {
    const { world } = this;
    this.#doing(this.#start());
    // A bill that can't be read is asked for till the end.
    const days = this.#service.poisoned.size > 0 ? 0 : LONGEST_DAYS;
    const longestMs = Math.max((days * DAY_MS) / this.#company.scale, 2 * PATIENCE_MS);
    const untilMs = Math.min(this.#untilMs, this.#faults.healsAtMs + longestMs);
    const everyMs = HOUR_MS / this.#company.scale;
    let lookAtMs = this.#faults.healsAtMs + everyMs;
    const stuckAtMs = this.#faults.healsAtMs + PATIENCE_MS;
    let looksForStuck = true;
    const isOver = (): boolean => {
      if (world.steps % CLAIMS_EVERY === 0) {
        this.#referee.meanwhile();
      }
      if (looksForStuck && world.nowMs >= stuckAtMs) {
        looksForStuck = false;
        this.#referee.whenHealed();
      }
      if (world.nowMs < lookAtMs) return false;
      lookAtMs = world.nowMs + everyMs;
      return this.#isQuiet();
    };
    const end = await world.run(isOver, { untilMs, steps: this.#steps });
    this.#referee.atTheEnd(end === "over" || end === "time");
    if (end === "steps" && this.#steps >= STEPS_MOST) {
      throw new Violation("no-loop-turns-idly", `${this.#steps} steps were not enough`);
    }
    return end;
  }

  close(): void {
    this.#processes.killAll("ends");
    this.#facts.close();
  }

  #doing(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.world.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  #isQuiet(): boolean {
    const running = [...this.#temporal.latest.values()].filter(({ state }) => state === "running");
    return this.#people.runs.size > 0 && running.every((each) => this.#waitsForPerson(each));
  }

  /** A retry whose bill is parked waits for weeks, if nobody decides. */
  #waitsForPerson({ workflowId }: Execution): boolean {
    const bill = /^retry-failed-payment\/.*\/(\w+)$/.exec(workflowId)?.[1];
    return bill !== undefined && this.#facts.states(bill).every((state) => state === "parked");
  }

  async #start(): Promise<void> {
    await this.#processes.begin();
    const { world } = this;
    this.#troubles.begin();
    this.#storeTroubles.begin();
    const trouble = this.#troubles;
    world.atBoundary = (node, what) => {
      this.#storeTroubles.at(what);
      this.#people.at(node, what);
      return trouble.at(node, what);
    };
    this.#people.begin();
    this.#others.begin(this.#company.troubleMs);
  }

  /** Another file takes the store's place, and everything that had it open begins anew. */
  #replaceStore(why: string, downMs: number): void {
    this.#processes.killAll(why);
    this.#facts.close();
    this.#file.putBack();
    this.#facts.open();
    const isBackup = this.#company.storeTroubles.has("restore");
    this.#referee.storeReplaced(isBackup);
    this.world.later(downMs, "the store is back", () => this.#doing(this.#processes.begin()));
  }
}
