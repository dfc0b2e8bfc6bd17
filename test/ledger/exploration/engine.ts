import { mayStillPay, openSends } from "../../../src/ledger/derive.ts";
import type {
  KeyedAttempt,
  Reading,
  Send,
  Step,
  SubjectFacts,
  Wish,
} from "../../../src/ledger/facts.ts";
import { next } from "../../../src/ledger/next.ts";
import { pay } from "../../../src/ledger/operations.ts";
import { factsOf, keyed, MIN, OTHER_BYTES, sent, T0, WISH } from "../facts.ts";
import { type Random, randomOf, Timeline } from "./random.ts";
import { type Answer, Service } from "./service.ts";

type SendStep = Extract<Step, { kind: "send" }>;

const GATE_MS = 15_000;
const ANSWER_TIMEOUT_MS = 10_000;

/** Two processes that share rows and pay one bill, while every possible fault occurs. */
export class Engine {
  facts: SubjectFacts = factsOf([]);
  readonly trace: string[] = [];
  readonly violations: string[] = [];
  readonly time = new Timeline(T0);
  readonly service: Service;
  /** The last step of each process. */
  readonly last: Step[] = [];
  hasFaults = true;
  #wish: Wish = WISH;
  readonly #random: Random;
  /** Counts up when all processes die. */
  #life = 0;
  #sends = 0;
  #isRestored = false;
  /**
   * The longest pause: a short one meets what has just happened, a long one a request that has run
   * for minutes.
   */
  readonly #patienceMs: number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#patienceMs = this.#random.chance(0.3) ? 20_000 : this.#random.between(MIN, 9 * MIN);
    this.service = new Service(this.#random, this.time, () => this.#judgePayment());
    for (const process of [0, 1]) this.#awake(process, this.#random.between(0, MIN));
    if (this.#random.chance(0.3)) this.#planLoss();
  }

  /** Ends all faults. */
  heal(): void {
    this.hasFaults = false;
    this.service.hasFaults = false;
  }

  #say(text: string): void {
    const atSeconds = Math.round((this.time.nowMs - T0) / 1000);
    this.trace.push(
      `${Math.floor(atSeconds / 60)}:${String(atSeconds % 60).padStart(2, "0")} ${text}`,
    );
  }

  #fails(share: number): boolean {
    return this.hasFaults && this.#random.chance(share);
  }

  #judgePayment(): void {
    this.#say(`the service pays, standing are ${this.service.standingCents()} cents`);
    if (this.service.standingCents() > WISH.amountCents) this.violations.push("paid twice");
    // A restored store has forgotten what it sent.
    if (!this.#isRestored && !mayStillPay(this.facts)) {
      this.violations.push("a payment came after nothing could pay any more");
    }
  }

  #planLoss(): void {
    const random = this.#random;
    this.time.after(random.between(0, 60 * MIN), () => {
      const { facts } = this;
      this.#say("a backup is taken");
      this.time.after(random.between(0, 60 * MIN), () => {
        if (!this.hasFaults) return;
        this.#say("the backup is restored, all processes die");
        this.facts = { ...facts, restored: { atMs: this.time.nowMs, serviceMs: null } };
        this.#isRestored = true;
        this.#life += 1;
        for (const process of [0, 1]) this.#awake(process, random.between(0, 5 * MIN));
      });
    });
  }

  #awake(process: number, afterMs: number): void {
    const life = this.#life;
    this.time.after(afterMs, () => {
      if (life === this.#life) this.#read(process);
    });
  }

  #heard(): number | null {
    return this.#fails(0.1) ? null : this.service.clockMs();
  }

  #read(process: number): void {
    const life = this.#life;
    const begunAtMs = this.time.nowMs;
    const begunServiceMs = this.#heard();
    const lastsMs = this.#fails(0.05)
      ? this.#random.between(0, 4 * MIN)
      : this.#random.between(100, 5_000);
    this.time.after(lastsMs, () => {
      if (life !== this.#life) return;
      const shown = this.service.shownSince(begunAtMs);
      const shownIds = shown.map(({ id }) => id);
      const isWhole = !this.#fails(0.05);
      const reading = { begunAtMs, begunServiceMs, isWhole, shownIds, shown };
      this.time.after(this.#fails(0.1) ? this.#random.between(0, 3 * MIN) : 10, () => {
        if (life === this.#life) this.#gate(process, reading);
      });
    });
  }

  /** One transaction: finds the next step from the rows as they are now, and takes it. */
  #gate(process: number, reading: Reading): void {
    if (this.#fails(0.05)) this.#wish = OTHER_BYTES;
    const wish = this.#fails(0.05) ? null : this.#wish;
    const now = { atMs: this.time.nowMs, serviceMs: this.#heard(), sandbox: false };
    const step = next(pay, this.facts, wish, reading, now);
    if (openSends(this.facts).length > 0) {
      this.facts = { ...this.facts, lookups: [...this.facts.lookups, reading] };
    }
    this.last[process] = step;
    this.#say(`${process} sees [${reading.shownIds.join()}]: ${describe(step)}`);
    if (step.kind === "send") return this.#send(process, step);
    if (step.kind === "adopt") this.#adopt(step);
    if (step.kind === "applied" && this.#fails(0.5)) this.#return(step.ids);
    this.#awake(
      process,
      this.#fails(0.3) ? this.#random.between(0, this.#patienceMs) : pauseMs(step),
    );
  }

  /** Lets the bank return these payments. */
  #return(ids: readonly string[]): void {
    this.time.after(this.#random.between(0, 30 * MIN), () => {
      for (const made of this.service.made) if (ids.includes(made.id)) made.status = "returned";
    });
  }

  #adopt({ seq, ids }: Extract<Step, { kind: "adopt" }>): void {
    const has = this.facts.attempts.some((attempt) => attempt.seq === seq);
    const attempts = has ? this.facts.attempts : [...this.facts.attempts, keyed(seq, [])];
    this.#setAttempts(attempts, (attempt) =>
      attempt.seq === seq ? { ...attempt, adoptedIds: [...attempt.adoptedIds, ...ids] } : attempt,
    );
  }

  #setAttempts(
    attempts: readonly KeyedAttempt[],
    change: (attempt: KeyedAttempt) => KeyedAttempt,
  ): void {
    this.facts = { ...this.facts, attempts: attempts.map((attempt) => change(attempt)) };
  }

  #send(process: number, step: SendStep): void {
    const random = this.#random;
    this.#sends += 1;
    const send = sent("pending", {
      ...step.terms,
      sendId: `s${this.#sends}`,
      baseline: step.baseline,
      openedAtMs: this.time.nowMs,
      leaveByMs: this.time.nowMs + random.between(GATE_MS / 2, GATE_MS),
      openedServiceMs: this.#fails(0.1) ? null : this.service.clockMs(),
    });
    const attempts = step.isNewKey
      ? [...this.facts.attempts, keyed(step.seq, [])]
      : this.facts.attempts;
    this.#setAttempts(attempts, (attempt) =>
      attempt.seq === step.seq ? { ...attempt, sends: [...attempt.sends, send] } : attempt,
    );
    const leavesInMs = this.#fails(0.2) ? random.between(0, 20_000) : random.between(0, 500);
    const life = this.#life;
    this.time.after(leavesInMs, () => {
      if (this.#fails(0.1)) return this.#crash(process, life, "before it sends");
      if (this.time.nowMs <= send.leaveByMs) return this.#leave(process, life, step.seq, send);
      this.#record(send, { result: "not-sent", status: 0, madeIds: [], dateMs: 0 }, false);
      if (life === this.#life) this.#read(process);
    });
  }

  #leave(process: number, life: number, seq: number, send: Send): void {
    const random = this.#random;
    this.#say(`${process} sends ${send.sendId} under key ${seq}`);
    let isWaiting = true;
    const goOn = () => {
      isWaiting = false;
      if (life === this.#life) this.#awake(process, this.#pauseAfterSendMs());
    };
    const hear = (answer: Answer) => {
      this.#say(`${send.sendId} is answered: ${answer.result}`);
      const isHeard = !this.#fails(0.2);
      const travelMs = this.#fails(0.1) ? random.between(0, MIN) : random.between(10, 300);
      // A process may be frozen for a long time after it has received a response.
      const standsMs = this.#fails(0.05) ? random.between(0, 40 * MIN) : 0;
      if (isHeard && isWaiting && standsMs > 0) isWaiting = false;
      const wasWaiting = isWaiting;
      this.time.after(travelMs + standsMs, () => {
        if (!isHeard || life !== this.#life) return;
        const isInTime = isWaiting || standsMs > 0;
        this.#record(send, answer, true);
        if (isInTime || !wasWaiting) goOn();
      });
    };
    if (!this.#fails(0.1)) {
      const arrivesInMs = this.#fails(0.2) ? random.between(0, MIN) : random.between(10, 300);
      const key = `key-${seq}`;
      this.time.after(arrivesInMs, () => this.service.receive(key, send.body, hear));
    }
    if (this.#fails(0.1)) {
      isWaiting = false;
      return this.#crash(process, life, `over ${send.sendId}`);
    }
    this.time.after(ANSWER_TIMEOUT_MS, () => {
      if (!isWaiting || life !== this.#life) return;
      this.#record(send, { result: "unknown", status: 0, madeIds: [], dateMs: 0 }, false);
      goOn();
    });
  }

  #pauseAfterSendMs(): number {
    if (!this.hasFaults) return 1_000;
    return this.#random.between(0, this.#patienceMs);
  }

  #crash(process: number, life: number, where: string): void {
    if (life !== this.#life) return;
    this.#say(`${process} dies ${where}`);
    this.#awake(process, this.#random.between(0, 2 * MIN));
  }

  /**
   * Records a result, or a late response if there is one; does nothing if a restored store lacks
   * the row.
   */
  #record({ sendId }: Send, answer: Answer, isDated: boolean): void {
    const { result, madeIds } = answer;
    this.#setAttempts(this.facts.attempts, (attempt) => {
      const row = attempt.sends.find((send) => send.sendId === sendId);
      if (row === undefined) return attempt;
      if (row.result !== "pending") {
        const lateAnswers = [...attempt.lateAnswers, { sendId, result, madeIds }];
        return { ...attempt, lateAnswers };
      }
      const answered: Send = {
        ...row,
        result,
        madeIds,
        status: answer.status,
        answeredAtMs: this.time.nowMs,
        answerDateMs: isDated ? answer.dateMs : null,
      };
      const sends = attempt.sends.map((send) => (send === row ? answered : send));
      return { ...attempt, sends };
    });
    this.#say(`${sendId} is recorded: ${result}`);
  }
}

/** Returns the pause before a process reads again: a long one if there is nothing to wait for. */
function pauseMs(step: Step): number {
  if (step.kind === "wait") return step.waitMs;
  return step.kind === "read" || step.kind === "adopt" ? 1_000 : 10 * MIN;
}

function describe(step: Step): string {
  switch (step.kind) {
    case "send":
      return `send key ${step.seq}`;
    case "adopt":
    case "applied":
      return `${step.kind} [${step.ids.join()}] for key ${step.seq}`;
    case "wait":
      return `wait ${Math.round(step.waitMs / 1000)} s, ${step.reason}`;
    case "person":
    case "read":
      return `${step.kind}: ${step.reason}`;
    case "idle":
      return "idle";
  }
}
