import type { Stream } from "../world/random.ts";
import type { World } from "../world/world.ts";
import { Bank, type SeenRequest } from "./bank.ts";
import type { BankClock } from "./bank-clock.ts";
import type { Book } from "./book.ts";
import { Effects, type Habits } from "./effects.ts";
import { type Answer, Keys, refusal } from "./keys.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Outages } from "./outages.ts";
import { type FaultPlan, LIES } from "./kinds.ts";
import type { Life } from "./life.ts";
import { lied, mayLie } from "./lies.ts";
import { absurdIn, isPoisoned, type Poisoned } from "./poison.ts";
import { Reads } from "./reads.ts";
import type { Wire, WireAnswer, WireRequest } from "./wire.ts";

type Heard = (answer: WireAnswer | Error) => void;

/** A request is carried out within this time of its arrival, or never (ledger, envelope). */
const WINDOW_MS = { real: 30 * 60_000, sandbox: 6 * 60_000 } as const;

/** How late each break of the envelope is, in milliseconds. */
const BROKEN_MS = {
  "bytes-hours-late": { least: 35 * 60_000, most: 4 * 3_600_000 },
  "carried-out-late": { least: 75 * 60_000, most: 5 * 3_600_000 },
  "shows-after-the-last-word": { least: 34 * 60_000, most: 2 * 3_600_000 },
} as const;

const STATE_REFUSALS = ["payments_locked", "insufficient_balance", "setup_incomplete"] as const;

/**
 * The Payments Service by its specification, with a bank whose ledger only rules read. It is not a
 * process of the engine: its faults are those of the network and its own.
 */
export class Service implements Wire {
  readonly bank: Bank;
  readonly #world: World;
  readonly #faults: FaultPlan;
  readonly #clock: BankClock;
  readonly #keys: Keys;
  readonly #effects: Effects;
  readonly #reads: Reads;
  readonly #windowMs: number;
  readonly #readMs: number;
  readonly #liesShare: number;
  readonly #outages: Outages;
  readonly #endpoint: Endpoint;
  readonly #travel: Stream;
  /** The part of a bill that can't be read, forever. */
  poisoned: Poisoned | undefined;

  constructor(
    world: World,
    parts: {
      readonly faults: FaultPlan;
      readonly outages: Outages;
      readonly clock: BankClock;
      readonly book: Book;
      readonly life: Life;
      readonly bankAccountId: string;
      readonly endpoint: Endpoint;
      /** How late a request may be carried out within the envelope. */
      readonly latestMs: number;
      /** Milliseconds that each read always takes. */
      readonly readMs: number;
      /** How often each read lies, if it does. */
      readonly liesShare: number;
      readonly habits: Pick<Habits, "guardsInFlight" | "splitOverCents">;
    },
  ) {
    const { faults, clock, book, life, bankAccountId } = parts;
    this.#world = world;
    this.#faults = faults;
    this.#readMs = parts.readMs;
    this.#liesShare = parts.liesShare;
    this.#outages = parts.outages;
    this.#clock = clock;
    this.bank = new Bank(world);
    this.#keys = new Keys(world, faults);
    this.#endpoint = parts.endpoint;
    this.#reads = new Reads(book, clock, bankAccountId, parts.endpoint);
    const longestMs = clock.scale === 1 ? WINDOW_MS.real : WINDOW_MS.sandbox;
    this.#windowMs = Math.min(longestMs, parts.latestMs);
    this.#travel = world.stream("travel");
    const late = faults.stream("shows-late");
    const showsAfterMs = (): number =>
      (faults.strikes("shows-late", 0.5) ? late.between(1_000, 59_000) : 0) +
      this.#brokenMs("shows-after-the-last-word", 0.9);
    const { bank } = this;
    this.#effects = new Effects({
      book,
      bank,
      clock,
      life,
      habits: { ...parts.habits, showsAfterMs },
    });
  }

  send(request: WireRequest, heard: Heard): void {
    if (request.method === "PATCH") {
      this.#world.later(this.#travel.between(2, 40), "PATCH arrives", () =>
        this.#changeEndpoint(heard),
      );
      return;
    }
    const seen = this.bank.see(request);
    const isLate = request.method !== "GET" && this.#faults.strikes("late-bytes", 0.2);
    const lateMs = isLate ? this.#faults.stream("late-bytes").between(1_000, 55_000) : 0;
    const longMs = request.method === "GET" ? 0 : this.#brokenMs("bytes-hours-late", 0.6);
    const travelMs = this.#travel.between(2, 40) + lateMs + longMs;
    const isRead = request.method === "GET";
    if (!isRead) {
      const key = request.key?.slice(-6) ?? "none";
      const about = aboutOf(request);
      this.#world.tell(request.from, `sends request ${seen.number} for ${about} under …${key}`);
    }
    if (this.#outages.isOn) {
      seen.overMs = this.#world.nowMs;
      if (this.#outages.isTold()) heard(new Error("ECONNREFUSED: nobody is there"));
      return;
    }
    if (isRead) {
      this.#world.later(travelMs, "GET arrives", () => this.#read(request, heard));
      return;
    }
    this.#world.later(travelMs, "POST arrives", () => this.#arrive(request, seen, heard));
  }

  /** Resumes the endpoint, the only change that it allows. */
  #changeEndpoint(heard: Heard): void {
    if (this.#outages.isOn || this.#refusesEarly(heard)) return;
    this.#world.tell("service", "resumes the webhook endpoint");
    this.#endpoint.resume();
    this.#answer(heard, { status: 200, body: this.#endpoint.json() });
  }

  #read(request: WireRequest, heard: Heard): void {
    const faults = this.#faults;
    const url = new URL(request.path, "http://service.test");
    if (faults.strikes("read-errors", 0.1)) {
      if (faults.stream("read-errors").chance(0.3)) return;
      this.#answer(heard, { status: 503, body: refusal("unavailable") });
      return;
    }
    if (url.pathname.startsWith("/v1") && this.#refusesEarly(heard)) return;
    const { poisoned } = this;
    if (poisoned?.isAbsurd === false && isPoisoned(poisoned, url)) {
      this.#answer(heard, { status: 500, body: refusal("server_error") });
      return;
    }
    const slowMs = faults.strikes("slow", 0.3) ? faults.stream("slow").stretched(50, 9_000) : 0;
    const isClock = url.pathname.startsWith("/sandbox");
    this.#world.later(slowMs + (isClock ? 0 : this.#readMs), "GET is answered", () => {
      // After the faults, small pages could mislead no write, and they take many steps.
      const isSmall = faults.kinds.has("small-pages") && this.#world.nowMs < faults.healsAtMs;
      this.#reads.pageMost = isSmall ? 2 : 100;
      const isStale = !isClock && faults.strikes("stale-lists", 0.3);
      this.#reads.staleMs = isStale ? faults.stream("stale-lists").between(1_000, 59_000) : 0;
      const isShort = !isClock && faults.strikes("short-lists", 0.1);
      this.#reads.leftOut = isShort ? faults.stream("short-lists").between(0, 2) : -1;
      // What a source says to send is the shortest way into a request.
      const answer = this.#reads.answer(url.pathname, url.searchParams);
      const lies = answer.status === 200 && mayLie(url) && faults.strikes(LIES, this.#liesShare);
      const told = lies ? lied(answer.body, faults.stream("which lie"), "pay") : answer.body;
      const isAbsurd = poisoned?.isAbsurd === true;
      const body = isAbsurd ? absurdIn(poisoned, url.pathname, told) : told;
      this.#answer(heard, { ...answer, body });
    });
  }

  /** Answers with 429 or 401 before anything else. */
  #refusesEarly(heard: Heard): boolean {
    const faults = this.#faults;
    if (faults.strikes("unauthorized", 0.05)) {
      this.#answer(heard, { status: 401, body: { statusCode: 401, message: "Unauthorized" } });
      return true;
    }
    if (!faults.strikes("rate-limit", 0.1)) return false;
    const seconds = faults.stream("rate-limit").between(1, 20);
    const form = faults.stream("rate-limit").between(0, 2);
    const at = new Date(this.#clock.wireMs() + seconds * 1_000).toUTCString();
    const after = [{}, { "retry-after": String(seconds) }, { "retry-after": at }][form] ?? {};
    this.#answer(heard, { status: 429, body: refusal("rate_limited") }, after);
    return true;
  }

  #arrive(request: WireRequest, seen: SeenRequest, heard: Heard): void {
    const faults = this.#faults;
    seen.arrivedMs = this.#world.nowMs;
    const answer: Heard = (given) => {
      if (!(given instanceof Error)) {
        seen.status = given.status;
        seen.answeredMs = this.#world.nowMs;
        this.#say(seen, `is answered ${given.status} ${codeOf(given.body)}`);
      }
      heard(given);
    };
    if (this.#refusesEarly(answer)) {
      seen.overMs = this.#world.nowMs;
      return;
    }
    if (faults.strikes("lost", 0.3)) {
      seen.overMs = this.#world.nowMs;
      this.#say(seen, "is lost here");
      return;
    }
    const key = request.key ?? "";
    this.#keys.enter(key);
    const untilMs = this.#world.nowMs + this.#windowMs - 1_000;
    const cutOff = faults.strikes("cut-off", 0.3);
    if (cutOff) {
      this.#say(seen, "is cut off, and goes on all the same");
      heard(new Error("ECONNRESET: the connection was cut"));
    }
    const waitsMs = this.#lateMs("queued", 0.2, untilMs) + (cutOff ? this.#cutMs(untilMs) : 0);
    const queueMs = Math.min(waitsMs, untilMs - this.#world.nowMs);
    const hear: Heard = cutOff ? () => undefined : this.#lying(answer);
    this.#world.later(queueMs, "claim", () => {
      this.#claim({ request, seen, hear, untilMs });
    });
  }

  /** Answers that a write succeeded may lie; what happened is in the book. */
  #lying(heard: Heard): Heard {
    return (given) => {
      const isGood = !(given instanceof Error) && given.status < 300;
      if (!isGood || !this.#faults.strikes(LIES, 0.8)) return heard(given);
      const lots = this.#faults.stream("which lie");
      const told = lied(JSON.parse(given.body), lots, "amountCents");
      heard({ ...given, body: JSON.stringify(told) });
    };
  }

  #cutMs(untilMs: number): number {
    const mostMs = Math.max(100, untilMs - this.#world.nowMs);
    return Math.min(mostMs, this.#faults.stream("cut-off").stretched(50, 60_000));
  }

  #lateMs(kind: "queued" | "slow" | "recorded-late", probability: number, untilMs: number): number {
    if (!this.#faults.strikes(kind, probability)) return 0;
    const mostMs = Math.max(100, untilMs - this.#world.nowMs);
    return Math.min(mostMs, this.#faults.stream(kind).stretched(1_000, this.#windowMs));
  }

  /** Returns how much later than the envelope allows, in milliseconds. */
  #brokenMs(kind: keyof typeof BROKEN_MS, probability: number): number {
    if (!this.#faults.strikes(kind, probability)) return 0;
    const { least, most } = BROKEN_MS[kind];
    return this.#faults.stream(kind).between(least, most);
  }

  #claim(work: Work): void {
    const { request, seen, hear } = work;
    const key = request.key ?? "";
    const fingerprint = `${request.method} ${request.path} ${request.body}`;
    const known = this.#keys.claim(key, fingerprint);
    if (known !== undefined) {
      seen.overMs = this.#world.nowMs;
      this.#keys.leave(key);
      this.#answer(hear, known);
      return;
    }
    const early = this.#earlyRefusal(key);
    if (early !== undefined) {
      seen.overMs = this.#world.nowMs;
      this.#keys.leave(key);
      this.#answer(hear, early);
      return;
    }
    const longMs = this.#brokenMs("carried-out-late", 0.7);
    const runMs = this.#travel.between(5, 120) + this.#lateMs("slow", 0.5, work.untilMs) + longMs;
    if (runMs > 1_000) this.#say(seen, `takes ${Math.round(runMs / 1_000)} s`);
    this.#world.later(runMs, "carry out", () => this.#carryOut(work));
  }

  /**
   * Returns a refusal of the business's state: not stored, with its key free or bound to the body.
   */
  #earlyRefusal(key: string): Answer | undefined {
    const faults = this.#faults;
    if (!faults.strikes("state-refusals", 0.25)) return undefined;
    this.#keys.settle(key, faults.kinds.has("refusals-bind") ? "bound" : "free");
    const code = faults.stream("state-refusals").pick(STATE_REFUSALS);
    return { status: 409, body: refusal(code) };
  }

  #carryOut(work: Work): void {
    const faults = this.#faults;
    const { request, seen, hear } = work;
    const key = request.key ?? "";
    const lots = faults.stream("server-errors");
    const dies = faults.strikes("conflict-for-ever", 0.3);
    const fails = !dies && faults.strikes("server-errors", 0.35);
    const odd = !dies && !fails && faults.strikes("unknown-409", 0.2);
    const effect = dies || fails || odd ? lots.pick(["all", "part", "none"] as const) : "all";
    const answer = effect === "none" ? undefined : this.#act(work, effect);
    seen.overMs = this.#world.nowMs;
    if (effect !== "none") seen.carriedOutMs = this.#world.nowMs;
    if (answer === undefined || dies || fails || odd) this.#keys.leave(key);
    if (dies) {
      this.#say(seen, `dies, with ${effect} of its effect; its key stays in conflict`);
      return;
    }
    if (fails || odd) {
      this.#keys.settle(key, "dead");
      this.#say(seen, `fails, with ${effect} of its effect`);
      const status = odd ? 409 : lots.pick([500, 502, 503]);
      this.#answer(hear, { status, body: refusal(odd ? "settlement_window" : "server_error") });
      return;
    }
    if (answer === undefined) return;
    const lateMs = this.#lateMs("recorded-late", 0.4, work.untilMs);
    const keep = (): void => {
      this.#keys.leave(key);
      this.#keep(key, answer);
      const slowMs = this.#lateMs("slow", 0.3, work.untilMs);
      this.#world.later(slowMs, "answer", () => this.#answer(hear, answer));
    };
    if (lateMs > 0) this.#world.later(lateMs, "record", keep);
    else keep();
  }

  #act({ request, seen }: Work, share: "all" | "part"): Answer {
    const body = JSON.parse(request.body === "" ? "{}" : request.body) as Record<string, unknown>;
    const answer = this.#effects.act(
      { path: request.path, key: request.key ?? "", body, number: seen.number },
      share,
    );
    if (answer.status < 300) this.#say(seen, `is carried out (${share})`);
    return answer;
  }

  #keep(key: string, answer: Answer): void {
    const unstored = this.#faults.kinds.has("refusals-unstored");
    const isRefused = answer.status >= 400;
    const isStored = !isRefused || (answer.status !== 409 && !unstored);
    this.#keys.settle(key, isStored ? "stored" : "free", answer);
  }

  #answer(heard: Heard, { status, body }: Answer, headers: Record<string, string> = {}): void {
    const date = new Date(this.#clock.wireMs()).toUTCString();
    this.#world.later(this.#travel.between(2, 30), "answer arrives", () =>
      heard({ status, headers: { date, ...headers }, body: JSON.stringify(body) }),
    );
  }

  #say(seen: SeenRequest, what: string): void {
    const key = seen.key?.slice(-6) ?? "none";
    this.#world.tell("service", `request ${seen.number} (${aboutOf(seen)}, …${key}) ${what}`);
  }
}

interface Work {
  readonly request: WireRequest;
  readonly seen: SeenRequest;
  readonly hear: Heard;
  /** The request is carried out by then, or never. */
  readonly untilMs: number;
}

function codeOf(body: string): string {
  return /"error":"(\w+)"/.exec(body)?.[1] ?? "";
}

/** Names what a money write is about, for a trace. */
function aboutOf({ path, body }: Pick<SeenRequest, "path" | "body">): string {
  const payableId = /"payableId":"([^"]+)"/.exec(body)?.[1];
  return payableId ?? path.replace(/^\/v1\//, "");
}
