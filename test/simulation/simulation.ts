import { Company } from "./company/company.ts";
import { type Ask, PEOPLE, People } from "./company/people.ts";
import {
  type EngineParts,
  type Gateway,
  prepare,
  startGateway,
  startWorker,
  workflowCode,
} from "./hooks.ts";
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
import { TemporalServer } from "./temporal/server.ts";
import { Troubles } from "./troubles.ts";
import type { Stream } from "./world/random.ts";
import { type ProcessNode, World } from "./world/world.ts";

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
/** A sandbox's clocks run so fast that a run looks every second: such seeds end in between. */
const SANDBOX_STEPS = 12_000;

/** Everything of one seed: the company, its service, its processes, and what goes wrong. */
export class Simulation {
  readonly world: World;
  readonly #storePath: string;
  readonly #untilMs: number;
  readonly #steps: number;
  readonly #company: Company;
  readonly #faults: FaultPlan;
  readonly #temporal: TemporalServer;
  readonly #book: Book;
  readonly #service: Service;
  readonly #facts: StoreFacts;
  readonly #people: People;
  readonly #troubles: Troubles;
  readonly #network: Stream;
  readonly #nodes = new Set<ProcessNode>();
  readonly #gateways = new Map<ProcessNode, Gateway>();
  readonly #referee: Referee;
  #tokens: ReadonlyMap<string, string> = new Map();

  constructor(seed: number, storePath: string, options: SeedOptions) {
    const { without = new Set() } = options;
    this.#untilMs = options.untilMs ?? Infinity;

    this.#storePath = storePath;
    const company = new Company(seed);
    this.#company = company;
    const world = new World(seed, company.startsMs);
    this.world = world;
    this.#network = world.stream("network");
    const healsAtMs = world.nowMs + company.troubleMs;
    this.#faults = new FaultPlan(world, { kinds: company.faults, healsAtMs, left: without });
    const clock = new BankClock(world, company.scale, company.serviceSkewMs);
    this.#book = new Book(world.stream("ids"), company.balanceCents);
    company.fill(this.#book);
    const mostSteps = STEPS_MOST + STEPS_A_BILL * this.#book.payables.size;
    this.#steps = options.steps ?? (company.scale === 1 ? mostSteps : SANDBOX_STEPS);
    const life = new Life(world, this.#book, clock, company.failures);
    this.#service = new Service(world, {
      faults: this.#faults,
      clock,
      book: this.#book,
      life,
      bankAccountId: BANK_ACCOUNT,
      latestMs: company.latestMs,
      habits: company.habits,
      readMs: company.readMs,
    });
    if (company.faults.has("poison")) this.#service.poisoned.add("bill_1");
    this.#temporal = new TemporalServer(world, workflowCode, 400);
    connectTo(this.#service);
    this.#facts = new StoreFacts(storePath);
    const webhooks = new Webhooks(world, {
      faults: this.#faults,
      clock,
      secret: company.profile.webhookSecrets[0] ?? "",
      deliver: (body, headers) => this.#webhook(body, headers),
    });
    if (company.hasWebhooks) life.atEvent = (...event) => webhooks.emit(...event);
    webhooks.atAcknowledged = (eventId) => this.#judge(() => this.#referee.atAcknowledged(eventId));
    const { bank } = this.#service;
    bank.atAcceptance = (accepted) => this.#judge(() => this.#referee.atAcceptance(accepted));
    bank.atSend = (request) => this.#judge(() => this.#referee.atSend(request));
    const { troubles, steady } = company;
    this.#troubles = new Troubles(world, this.#faults, troubles, steady, this.#temporal, (node) =>
      this.#restart(node),
    );
    this.#people = new People(world, this.#ask, {
      acts: company.acts,
      launches: company.paying.launches,
      payableIds: [...this.#book.payables.keys()],
      contactIds: [...this.#book.contacts.keys()],
      paymentIds: () => this.#book.payments.map(({ id }) => id),
    });
    this.#people.calmFromMs = healsAtMs;
    this.#referee = new Referee({
      ...{ facts: this.#facts, bank, book: this.#book, said: this.#people.said },
      businessId: company.profile.businessId,
      sandbox: company.scale !== 1,
      businessMsAt: (atMs) => clock.nowMs(atMs),
      isOnlyRun: company.paying.launches.length === 1,
      vendorPerWeekCents: company.paying.vendorPerWeekCents,
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
        this.#judge(() => this.#referee.meanwhile(world.nowMs));
      }
      if (looksForStuck && world.nowMs >= stuckAtMs) {
        looksForStuck = false;
        this.#judge(() => this.#referee.whenHealed());
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
    for (const node of this.#nodes) this.world.kill(node, "ends");
    this.#facts.close();
  }

  #doing(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.world.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  /** What breaks a rule ends the seed at the end of its step, wherever it was noticed. */
  #judge(rule: () => void): void {
    try {
      rule();
    } catch (error) {
      this.world.failure ??= error instanceof Error ? error : new Error(String(error));
    }
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
    const company = this.#company;
    for (const { id, skewMs } of company.gateways) await this.#begin(id, "gateway", skewMs);
    for (const { id, skewMs } of company.workers) await this.#begin(id, "worker", skewMs);
    this.#troubles.begin();
    this.#people.begin();
  }

  #parts(): EngineParts {
    return {
      world: this.world,
      temporal: this.#temporal,
      storePath: this.#storePath,
      profile: this.#company.profile,
      sweepEveryMs: this.#company.sweepEveryMs,
      log: (node, line) => this.world.tell(node.id, `logs: ${line}`),
    };
  }

  async #begin(id: string, kind: "worker" | "gateway", skewMs: number): Promise<void> {
    const { world } = this;
    const node = world.makeNode(id, kind, skewMs);
    this.#nodes.add(node);
    if (kind === "worker") {
      await world.in(node, () => startWorker(this.#parts(), node));
      return;
    }
    const gateway = await world.in(node, () => startGateway(this.#parts(), node));
    if (this.#tokens.size === 0) {
      const { playbooks } = this.#company.paying;
      this.#tokens = await world.in(node, () => prepare(gateway.store, PEOPLE, playbooks));
    }
    this.#gateways.set(node, gateway);
  }

  #restart(node: ProcessNode): void {
    this.#nodes.delete(node);
    this.#gateways.delete(node);
    if (node.kind !== "worker" && node.kind !== "gateway") return;
    this.world.tell(node.id, "starts again");
    this.#doing(this.#begin(node.id, node.kind, node.skewMs));
  }

  readonly #ask: Ask = async (person, method, path, body) => {
    const response = await this.#request(path, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(person) ?? ""}`,
        "content-type": "application/json",
      },
      ...(body === undefined || method === "DELETE" ? {} : { body: JSON.stringify(body) }),
    });
    if (response === undefined) return undefined;
    const json: unknown = await response.json();
    if (method !== "GET") {
      const said = JSON.stringify(body ?? {});
      this.world.tell(person, `${method} ${path} ${said}: ${response.status} ${codeOf(json)}`);
    }
    return { status: response.status, json };
  };

  async #webhook(
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    const path = `/webhooks/${this.#company.profile.name}`;
    return (await this.#request(path, { method: "POST", headers, body }))?.status;
  }

  /** Asks any gateway that is alive; undefined where none answers in time. */
  async #request(path: string, init: RequestInit): Promise<Response | undefined> {
    const { world } = this;
    const alive = [...this.#gateways].filter(([node]) => node.alive);
    if (alive.length === 0) return undefined;
    const [node, { app }] = this.#network.pick(alive);
    const answered = world.in(node, async () => app.request(`http://payrun.test${path}`, init));
    return Promise.race([
      answered,
      new Promise<undefined>((resolve) => {
        world.after(30_000, "nobody answers", () => resolve(undefined));
      }),
    ]);
  }
}

function codeOf(json: unknown): string {
  const { error } = (json ?? {}) as { readonly error?: unknown };
  return error === undefined ? "" : JSON.stringify(error);
}
