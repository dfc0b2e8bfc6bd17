import { newYorkDay, newYorkInstant } from "../../../src/sandbox/payments/banking-days.ts";
import { workflowCode } from "../hooks.ts";
import { Processes } from "../processes.ts";
import { StoreFacts } from "../rules/store-facts.ts";
import { BankClock } from "../service/bank-clock.ts";
import { Book } from "../service/book.ts";
import { Endpoint } from "../service/endpoint.ts";
import { FaultPlan } from "../service/kinds.ts";
import { Life } from "../service/life.ts";
import { Outages } from "../service/outages.ts";
import { Service } from "../service/service.ts";
import { connectTo } from "../service/undici-stand-in.ts";
import { Webhooks } from "../service/webhooks.ts";
import { TemporalServer } from "../temporal/server.ts";
import { World } from "../world/world.ts";
import { addDays, dayBefore } from "./days.ts";

const HOUR_MS = 3_600_000;
const VENDORS = 20;
/** Days after the last run: longer than anything that happens to its bills takes. */
const DAYS_AFTER = 21;
const UNTROUBLED = { failures: 0, sameAgain: 0, emptyDays: 0, reviews: false } as const;
const PLAYBOOK = `kind: pay-run
select: { due: within 12 days }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
`;

export interface QuarterPlan {
  /** `YYYY-MM-DD` of the first run; the other runs follow week by week. */
  readonly firstRun: string;
  readonly weeks: number;
  readonly bills: number;
  /** False if no endpoint is registered, so that only polls find changes. */
  readonly hasWebhooks: boolean;
}

/** A bill's payment that the bank has moved, and when the engine had seen it. */
export interface Found {
  readonly payableId: string;
  readonly atMs: number;
  foundMs: number | null;
}

export interface QuarterResult {
  /** Events added to all histories together, by day in New York. */
  readonly events: ReadonlyMap<string, number>;
  /** Days in New York on which people or the bank did something about a bill. */
  readonly billDays: ReadonlySet<string>;
  /** Payments that settled, and late returns. */
  readonly settled: readonly Found[];
  readonly returned: readonly Found[];
  /** The final state of each bill's line. */
  readonly states: ReadonlyMap<string, number>;
}

/**
 * Weekly runs on real clocks, at a company without troubles: bills are entered and planned in the
 * morning, approved in the afternoon, paid, and settle. In each run, one payment is returned weeks
 * later, and one bill is on hold for some days.
 */
export class Quarter {
  readonly world: World;
  readonly #plan: QuarterPlan;
  readonly #book: Book;
  readonly #life: Life;
  readonly #temporal: TemporalServer;
  readonly #processes: Processes;
  readonly #facts: StoreFacts;
  readonly #events = new Map<string, number>();
  readonly #billDays = new Set<string>();
  readonly #settled: Found[] = [];
  readonly #returned: Found[] = [];

  constructor(plan: QuarterPlan, storePath: string) {
    this.#plan = plan;
    const startsMs = newYorkInstant(addDays(plan.firstRun, -1), "12:00");
    const world = new World(1, startsMs);
    this.world = world;
    const faults = new FaultPlan(world, { kinds: new Set(), healsAtMs: startsMs, left: new Set() });
    const clock = new BankClock(world, 1, 0);
    this.#book = new Book(world.stream("ids"));
    this.#book.balanceCents = 100_000_000_00;
    this.#life = new Life(world, this.#book, clock, UNTROUBLED);
    const endpoint = new Endpoint(false);
    const service = new Service(world, {
      endpoint,
      ...{ faults, clock, book: this.#book, life: this.#life, bankAccountId: "bank_main" },
      ...{ outages: new Outages(world, faults), latestMs: 120_000, readMs: 0, liesShare: 0 },
      habits: { guardsInFlight: false, splitOverCents: 10_000_000 },
    });
    connectTo(service);
    this.#temporal = new TemporalServer(world, workflowCode, 4_096);
    this.#temporal.atEvents = (_, events) => {
      const day = newYorkDay(world.nowMs);
      this.#events.set(day, (this.#events.get(day) ?? 0) + events);
    };
    this.#facts = new StoreFacts(storePath);
    const still = (id: string) => ({ id, skewMs: 0 });
    this.#processes = new Processes({
      world,
      temporal: this.#temporal,
      storePath,
      company: {
        gateways: [still("gateway-1")],
        workers: [still("worker-1"), still("worker-2")],
        janitorEveryMs: 60_000,
        listsDeliveries: false,
        paying: { playbooks: [{ name: "weekly", text: PLAYBOOK }] },
        traits: new Set(),
        profile: PROFILE,
      },
    });
    const webhooks = new Webhooks(world, {
      ...{ faults, clock, endpoint, secret: PROFILE.webhookSecrets[0] ?? "" },
      deliver: (body, headers) => this.#processes.webhook(body, headers),
    });
    this.#life.atEvent = (type, object, id) => {
      if (type === "payable.paid") this.#settled.push(this.#found(id));
      if (type === "payable.payment.reversed") this.#returned.push(this.#found(id));
      if (plan.hasWebhooks) webhooks.emit(type, object, id);
    };
    for (let number = 1; number <= VENDORS; number += 1) {
      const id = `con_${number}`;
      const vendor = { id, displayName: `Vendor ${number}`, status: "active", last4: "6789" };
      this.#book.contacts.set(id, { ...vendor, updatedMs: null, movedMs: 0, editedMs: 0 });
    }
  }

  async run(): Promise<QuarterResult> {
    const { world } = this;
    const { weeks, firstRun } = this.#plan;
    this.#doing(this.#processes.begin());
    for (let week = 0; week < weeks; week += 1) this.#planWeek(week);
    this.#look();
    const untilMs = newYorkInstant(addDays(firstRun, 7 * (weeks - 1) + DAYS_AFTER), "12:00");
    const end = await world.run(() => false, { untilMs, steps: Infinity });
    if (end !== "time") throw new Error(`the quarter ended otherwise: ${end}`);
    const states = new Map<string, number>();
    for (const { state } of this.#facts.lines()) states.set(state, (states.get(state) ?? 0) + 1);
    for (const { createdMs, scheduledMs, processedMs, updatedMs } of this.#book.payments) {
      for (const ms of [createdMs, scheduledMs, processedMs ?? updatedMs, updatedMs]) {
        this.#billDays.add(newYorkDay(ms));
      }
    }
    const found = { settled: this.#settled, returned: this.#returned };
    return { events: this.#events, billDays: this.#billDays, ...found, states };
  }

  close(): void {
    this.#processes.killAll("ends");
    this.#facts.close();
  }

  #planWeek(week: number): void {
    // If the day is a bank holiday, its run is on the business day before.
    const date = dayBefore(addDays(this.#plan.firstRun, 7 * week));
    const ids = this.#enter(week, date);
    const at = (day: string, time: string, work: () => void | Promise<void>): void => {
      const delayMs = newYorkInstant(day, time) - this.world.nowMs;
      this.#billDays.add(day);
      this.world.later(delayMs, "the company acts", () => this.#doing(Promise.resolve(work())));
    };
    let runId = "";
    at(date, "10:00", async () => {
      const answer = await this.#ask("lena", "POST", "/v1/runs", {
        playbook: "weekly",
        period: date,
      });
      runId = (answer as { id: string }).id;
    });
    at(date, "14:00", () => this.#approve(runId));
    const [first = "", second = ""] = ids;
    at(date, "11:00", async () => {
      const hold = { payableId: second, reason: "The goods have not come." };
      const { id } = (await this.#ask("otto", "POST", "/v1/holds", hold)) as { id: string };
      const lifted = dayBefore(addDays(date, 6));
      at(lifted, "11:00", async () => {
        await this.#ask("otto", "DELETE", `/v1/holds/${encodeURIComponent(id)}`);
      });
      // Its date has passed, so it needs a new approval.
      at(lifted, "14:00", () => this.#approve(runId));
    });
    // Weeks after it has settled and its run has ended.
    at(dayBefore(addDays(date, 17)), "16:30", () => {
      const paid = this.#book.paymentsOf(first).find(({ status }) => status === "completed");
      if (paid !== undefined) this.#life.move(paid, "returned", "R02 account closed");
    });
  }

  #enter(week: number, date: string): string[] {
    return Array.from({ length: this.#plan.bills }, (_, index) => {
      const id = `bill_${week + 1}_${index + 1}`;
      const contactId = `con_${(index % VENDORS) + 1}`;
      const totalCents = 100_00 + index * 100;
      const enteredMs = newYorkInstant(date, "09:00");
      this.world.later(enteredMs - this.world.nowMs, "a bill is entered", () => {
        this.#book.payables.set(id, {
          ...{ id, contactId, status: "approved", totalCents, dueDate: addDays(date, 9) },
          ...{ totals: [{ fromMs: 0, cents: totalCents }], issueDate: addDays(date, -10) },
        });
      });
      return id;
    });
  }

  async #approve(runId: string): Promise<void> {
    const path = `/v1/runs/${encodeURIComponent(runId)}`;
    const { planHash } = (await this.#ask("carla", "GET", path)) as { planHash: string };
    await this.#ask("carla", "POST", `${path}/decisions`, { decision: "approve", planHash });
  }

  async #ask(
    person: string,
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: object,
  ): Promise<unknown> {
    const answer = await this.#processes.ask(person, method, path, body);
    if (answer === undefined || answer.status >= 300) {
      throw new Error(`${method} ${path} was answered ${JSON.stringify(answer)}`);
    }
    return answer.json;
  }

  /** Compares every quarter of an hour what the bank has done with what the engine knows of it. */
  #look(): void {
    this.world.later(HOUR_MS / 4, "somebody compares", () => {
      const open = [...this.#settled, ...this.#returned].filter(({ foundMs }) => foundMs === null);
      if (open.length > 0) {
        const lines = new Map(this.#facts.lines().map((line) => [line.payableId, line.state]));
        for (const found of open) {
          const isReturn = this.#returned.includes(found);
          const isSettled = lines.get(found.payableId) === "settled";
          if (isSettled !== isReturn) found.foundMs = this.world.nowMs;
        }
      }
      this.#look();
    });
  }

  #found(payableId: string): Found {
    return { payableId, atMs: this.world.nowMs, foundMs: null };
  }

  #doing(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.world.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }
}

const PROFILE = {
  name: "acme",
  apiUrl: "http://service.test",
  businessId: "biz_1",
  token: { kind: "value", value: "token-of-the-business" },
  webhookSecrets: ["whsec_simulation"],
  achAuthorization: { acceptedBy: "olga", acceptedAt: "2027-01-01" },
  sandbox: false,
} as const;
