import { Company } from "./company/company.ts";
import { Others } from "./company/others.ts";
import { Offices } from "./company/offices.ts";
import { People } from "./company/people.ts";
import { type Commit, trailProblems, workflowCode } from "./hooks.ts";
import { Processes } from "./processes.ts";
import { someRestUntold, UNTOLD_MS, waitsForMoney } from "./rules/end-rules.ts";
import { Referee } from "./rules/referee.ts";
import { StoreFacts } from "./rules/store-facts.ts";
import { StoreRows } from "./rules/store-rows.ts";
import { Violation } from "./rules/violation.ts";
import { BankClock } from "./service/bank-clock.ts";
import { Book } from "./service/book.ts";
import { Endpoint } from "./service/endpoint.ts";
import { FaultPlan } from "./service/kinds.ts";
import { Life } from "./service/life.ts";
import { Outages } from "./service/outages.ts";
import { Service } from "./service/service.ts";
import { connectTo } from "./service/undici-stand-in.ts";
import { Webhooks } from "./service/webhooks.ts";
import type { Execution } from "./temporal/execution.ts";
import { StoreFile } from "./store-file.ts";
import { StoreTroubles } from "./store-troubles.ts";
import { TemporalServer } from "./temporal/server.ts";
import { Troubles } from "./troubles.ts";
import { wakeIdleLoops } from "./world/globals.ts";
import { World } from "./world/world.ts";

export interface SeedOptions {
  /** Numbers of faults that are left out, to shorten a trace. */
  readonly without?: ReadonlySet<number>;
  /** Instant at which the seed ends, if it has not ended before. */
  readonly untilMs?: number;
  /** Number of steps after which the seed ends. */
  readonly steps?: number;
}

const BANK_ACCOUNT = "bank_main";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Simulated days after which a seed ends, on the bank's clock. */
const LONGEST_DAYS = 18;
/** Days for which a person may still approve a deposit, or money may come. */
const SHORT_DAYS = 3;
/** How long after everything has healed a bill may still be at work. */
const PATIENCE_MS = 1.5 * HOUR_MS;
/** More steps than any seed needs on real clocks, plus some for each bill. */
const STEPS_MOST = 120_000;
const STEPS_A_BILL = 8_000;
/** A run that lacks money looks for it every half hour, until the seed ends. */
const STEPS_FOR_MONEY = LONGEST_DAYS * 48 * 100;
/** Steps between two checks of the rules that are called now and then. */
const CLAIMS_EVERY = 40;
const IDLE_MS = { real: 4 * HOUR_MS, sandbox: 300_000 } as const;

/** Everything of one seed: the company, its service, its processes, and its troubles. */
export class Simulation {
  readonly world: World;
  readonly #untilMs: number;
  readonly #steps: number;
  readonly #company: Company;
  readonly #faults: FaultPlan;
  readonly #life: Life;
  readonly #endpoint: Endpoint;
  readonly #temporal: TemporalServer;
  readonly #service: Service;
  readonly #storePath: string;
  readonly #facts: StoreFacts;
  readonly #rows: StoreRows;
  readonly #file: StoreFile;
  readonly #referee: Referee;
  readonly #people: People;
  readonly #offices: Offices;
  readonly #others: Others;
  readonly #processes: Processes;
  readonly #troubles: Troubles;
  readonly #storeTroubles: StoreTroubles;
  readonly #outages: Outages;

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
    const book = new Book(world.stream("ids"));
    company.fill(book);
    const moneySteps = company.traits.has("short-balance") ? STEPS_FOR_MONEY : 0;
    const mostSteps = STEPS_MOST + STEPS_A_BILL * book.payables.size + moneySteps;
    this.#steps = options.steps ?? mostSteps;
    const life = new Life(world, book, clock, company);
    this.#endpoint = new Endpoint(company.listsDeliveries);
    this.#life = life;
    this.#outages = new Outages(world, faults);
    this.#service = new Service(world, {
      faults,
      outages: this.#outages,
      clock,
      book,
      life,
      bankAccountId: BANK_ACCOUNT,
      endpoint: this.#endpoint,
      latestMs: company.latestMs,
      habits: company.habits,
      readMs: company.readMs,
      liesShare: company.liesShare,
    });
    this.#others = new Others(world, { book, life, clock, kinds: company.doings });
    if (company.faults.has("poison")) {
      const contactId = book.payables.get("bill_1")?.contactId ?? "";
      const { poisons: what, isAbsurd } = company;
      this.#service.poisoned = { payableId: "bill_1", contactId, what, isAbsurd };
    }
    this.#temporal = new TemporalServer(world, workflowCode, 400);
    connectTo(this.#service);
    this.#storePath = storePath;
    this.#facts = new StoreFacts(storePath);
    this.#rows = new StoreRows(storePath);
    this.#file = new StoreFile(storePath);
    this.#processes = new Processes({ world, company, temporal: this.#temporal, storePath });
    const webhooks = new Webhooks(world, {
      faults,
      clock,
      secret: company.profile.webhookSecrets[0] ?? "",
      deliver: (body, headers) => this.#processes.webhook(body, headers),
      endpoint: this.#endpoint,
    });
    life.atEvent = (...event) => {
      if (company.hasWebhooks) webhooks.emit(...event);
    };
    webhooks.atAcknowledged = (eventId) => this.#referee.atAcknowledged(eventId);
    this.#people = new People(world, this.#processes.ask, {
      acts: company.acts,
      isHasty: company.scale !== 1,
      isStubborn: company.traits.has("bounces"),
      dividesRuns: company.traits.has("adds-up"),
      launches: company.paying.launches,
      atOnce: company.paying.atOnce,
      payableIds: [...book.payables.keys()],
      contactIds: [...book.contacts.keys()],
      paymentIds: () => book.payments.map(({ id }) => id),
    });
    this.#people.calmFromMs = healsAtMs;
    this.#offices = new Offices(world, this.#processes.ask, {
      traits: company.traits,
      isHasty: company.scale !== 1,
      payableIds: [...book.payables.keys()],
      runs: this.#people.runs,
      said: this.#people.said,
      calmFromMs: healsAtMs,
    });
    this.#referee = new Referee(world, {
      ...{ facts: this.#facts, rows: this.#rows },
      ...{ bank: this.#service.bank, book, said: this.#people.said },
      endpoint: this.#endpoint,
      businessId: company.profile.businessId,
      sandbox: company.scale !== 1,
      health: () => ({ troubledMs: this.#troubledMs, isUp: this.#isUp }),
      ...{ clock, healsAtMs, isWithinEnvelope: !company.breaksEnvelope },
      ...{
        isLiedTo: company.isLiedTo,
        bankAccountId: BANK_ACCOUNT,
        skewMs: company.scale === 1 ? 11 * 60_000 : 1.5 * DAY_MS,
      },
      businessMsAt: (atMs) => clock.nowMs(atMs),
      unseenMs: this.#unseenMs,
      isOnlyRun: company.paying.launches.length === 1,
      paying: company.paying,
    });
    const { troubles, steady, traits } = company;
    this.#troubles = new Troubles(world, faults, {
      ...{ kinds: troubles, steady, isLateToLeave: traits.has("late-to-leave") },
      temporal: this.#temporal,
      restart: (node) => this.#processes.restart(node),
    });
    this.#storeTroubles = new StoreTroubles(world, faults, company.storeTroubles, {
      file: this.#file,
      replace: (why, downMs) => this.#replaceStore(why, downMs),
      restored: (backedUpMs) => this.#people.storeRestored(backedUpMs),
    });
  }

  /** Longest sleep of the engine's idle loops. */
  get idleMs(): number {
    return this.#company.scale === 1 ? IDLE_MS.real : IDLE_MS.sandbox;
  }

  /** How long it may take to notice a return that no webhook reports. */
  get #unseenMs(): number {
    const { scale, janitorEveryMs } = this.#company;
    const lookEveryMs = scale === 1 ? 6 * HOUR_MS : 5 * janitorEveryMs;
    return lookEveryMs + this.idleMs + 6 * janitorEveryMs;
  }

  /** When something last went wrong. */
  get #troubledMs(): number {
    // A permanent fault never ends.
    if (this.#service.poisoned !== undefined) return Infinity;
    return Math.max(this.#faults.struckMs, this.world.startedMs);
  }

  get #isUp(): boolean {
    return this.#processes.areUp && this.#temporal.isUp && !this.#outages.isOn;
  }

  get faultsMade(): number {
    return this.#faults.made;
  }

  /** Returns what the store says of a bill at the end, or of all bills if none is named. */
  factsOf(payableId: string): World["told"] {
    const { nowMs } = this.world;
    const facts = payableId === "" ? this.#facts.summary() : this.#facts.of(payableId);
    return facts.map((what) => ({ atMs: nowMs, who: "store", what }));
  }

  /** Called after a commit of an engine's process. */
  committed({ isFlushed, hasSends }: Commit): void {
    if (this.#company.storeTroubles.has("power-cut")) this.#file.committed(isFlushed);
    if (hasSends) this.#referee.sendsWritten();
  }

  async run(): Promise<string> {
    const { world } = this;
    this.#doing(this.#start());
    // A bill that can't be read is read again until the end.
    const days = this.#service.poisoned === undefined ? LONGEST_DAYS : 0;
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
    let end = await world.run(isOver, { untilMs, steps: this.#steps });
    while (end === "time" && someRestUntold(this.#facts, world.nowMs)) {
      const toldMs = world.nowMs + UNTOLD_MS;
      end = await world.run(isOver, { untilMs: toldMs, steps: this.#steps });
    }
    this.#referee.atTheEnd(end === "over" || end === "time");
    await this.#referee.checkTrail((heads) => trailProblems(this.#storePath, heads));
    if (end === "steps" && this.#steps >= STEPS_MOST) {
      throw new Violation("no-loop-turns-idly", `${this.#steps} steps were not enough`);
    }
    return end;
  }

  close(): void {
    this.#processes.killAll("ends");
    this.#facts.close();
    this.#rows.close();
  }

  #doing(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.world.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  #isQuiet(): boolean {
    const running = [...this.#temporal.latest.values()].filter(({ state }) => state === "running");
    const isSeen = this.#people.runs.size > 0 && this.#life.isOver(this.#unseenMs);
    return isSeen && running.every((each) => this.#waitsForPerson(each));
  }

  /**
   * A retry of a parked bill waits for weeks without a decision, and so does a run that needs
   * money.
   */
  #waitsForPerson({ workflowId }: Execution): boolean {
    if (workflowId.startsWith("pay-run/")) {
      const isLong = this.#life.isOver((SHORT_DAYS * DAY_MS) / this.#company.scale);
      return isLong && waitsForMoney(this.#facts, workflowId);
    }
    const bill = /^retry-failed-payment\/.*\/(\w+)$/.exec(workflowId)?.[1];
    if (bill === undefined || !this.#facts.states(bill).every((state) => state === "parked")) {
      return false;
    }
    return !this.#company.traits.has("bounces") || this.#people.hopeless.has(bill);
  }

  async #start(): Promise<void> {
    await this.#processes.begin();
    const { world } = this;
    this.#troubles.begin();
    this.#storeTroubles.begin();
    if (this.#company.hasOutage) this.#outages.begin();
    if (this.#company.listsDeliveries) this.#pauseEndpoint();
    const trouble = this.#troubles;
    world.atBoundary = (node, what) => {
      this.#storeTroubles.at(what);
      this.#outages.at(what);
      this.#people.at(node, what);
      return trouble.at(node, what);
    };
    this.#people.begin();
    this.#offices.begin();
    this.#others.begin(this.#company.troubleMs);
  }

  /** Makes the service pause the webhook endpoint, at some companies. */
  #pauseEndpoint(): void {
    const lots = this.world.stream("endpoint");
    if (!lots.chance(0.7)) return;
    this.world.later(lots.stretched(20_000, this.#company.troubleMs), "endpoint", () => {
      if (!this.#faults.count()) return;
      this.world.tell("service", "pauses the webhook endpoint");
      this.#endpoint.pause();
      // No row is written; the loops that handle it look by themselves.
      wakeIdleLoops(false);
    });
  }

  /** Replaces the store's file, and restarts everything that had it open. */
  #replaceStore(why: string, downMs: number): void {
    this.#processes.killAll(why);
    this.#facts.close();
    this.#rows.close();
    this.#file.putBack();
    this.#facts.open();
    this.#rows.open();
    const isBackup = this.#company.storeTroubles.has("restore");
    this.#referee.storeReplaced(isBackup);
    this.world.later(downMs, "the store is back", () => this.#doing(this.#processes.begin()));
  }
}
