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
import { MoneyRules } from "./rules/money-rules.ts";
import { StoreFacts } from "./rules/store-facts.ts";
import { BankClock } from "./service/bank-clock.ts";
import { Book } from "./service/book.ts";
import { FaultPlan } from "./service/kinds.ts";
import { Life } from "./service/life.ts";
import { Service } from "./service/service.ts";
import { connectTo } from "./service/undici-stand-in.ts";
import { TemporalServer } from "./temporal/server.ts";
import { Troubles } from "./troubles.ts";
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
/** More turns than any seed needs. */
const STEPS_MOST = 60_000;

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
  readonly #nodes = new Set<ProcessNode>();
  readonly #gateways = new Map<ProcessNode, Gateway>();
  #tokens: ReadonlyMap<string, string> = new Map();

  constructor(seed: number, storePath: string, options: SeedOptions) {
    const { without = new Set() } = options;
    this.#untilMs = options.untilMs ?? Infinity;
    this.#steps = options.steps ?? STEPS_MOST;
    this.#storePath = storePath;
    const company = new Company(seed);
    this.#company = company;
    const world = new World(seed, company.startsMs);
    this.world = world;
    const healsAtMs = world.nowMs + company.troubleMs;
    this.#faults = new FaultPlan(world, { kinds: company.faults, healsAtMs, left: without });
    const clock = new BankClock(world, company.scale, company.serviceSkewMs);
    this.#book = new Book(world.stream("ids"), company.balanceCents);
    company.fill(this.#book);
    const life = new Life(world, this.#book, clock, company.failures);
    this.#service = new Service(world, {
      faults: this.#faults,
      clock,
      book: this.#book,
      life,
      bankAccountId: BANK_ACCOUNT,
      habits: company.habits,
    });
    this.#temporal = new TemporalServer(world, workflowCode, 400);
    connectTo(this.#service);
    this.#facts = new StoreFacts(storePath);
    const rules = new MoneyRules(this.#service.bank, this.#book, this.#facts);
    this.#service.bank.atAcceptance = (accepted) => rules.check(accepted);
    this.#troubles = new Troubles(world, this.#faults, company.troubles, (node) =>
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
  }

  get faultsMade(): number {
    return this.#faults.made;
  }

  /** What the store says of a bill's attempts, for a trace. */
  attempts(payableId: string): string[] {
    return this.#facts.attempts(payableId);
  }

  async run(): Promise<string> {
    const { world } = this;
    this.#doing(this.#start());
    const longestMs = (LONGEST_DAYS * DAY_MS) / this.#company.scale;
    const untilMs = Math.min(this.#untilMs, this.#faults.healsAtMs + longestMs);
    const everyMs = HOUR_MS / this.#company.scale;
    let lookAtMs = this.#faults.healsAtMs + everyMs;
    const isOver = (): boolean => {
      if (world.nowMs < lookAtMs) return false;
      lookAtMs = world.nowMs + everyMs;
      return this.#isQuiet();
    };
    const end = await world.run(isOver, { untilMs, steps: this.#steps });
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

  #isQuiet(): boolean {
    const running = [...this.#temporal.latest.values()].filter(({ state }) => state === "running");
    return this.#people.runs.size > 0 && running.length === 0;
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
    const { world } = this;
    const [entry] = [...this.#gateways].filter(([{ alive }]) => alive);
    if (entry === undefined) return undefined;
    const [node, { app }] = entry;
    const init = {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(person) ?? ""}`,
        "content-type": "application/json",
      },
      ...(body === undefined || method === "DELETE" ? {} : { body: JSON.stringify(body) }),
    };
    const answered = world.in(node, async () => app.request(`http://payrun.test${path}`, init));
    const response = await Promise.race([
      answered,
      new Promise<undefined>((resolve) => {
        world.after(30_000, "a person gives up", () => resolve(undefined));
      }),
    ]);
    if (response === undefined) return undefined;
    const json: unknown = await response.json();
    if (method !== "GET") {
      const said = JSON.stringify(body ?? {});
      world.tell(person, `${method} ${path} ${said}: ${response.status} ${codeOf(json)}`);
    }
    return { status: response.status, json };
  };
}

function codeOf(json: unknown): string {
  const { error } = (json ?? {}) as { readonly error?: unknown };
  return error === undefined ? "" : JSON.stringify(error);
}
