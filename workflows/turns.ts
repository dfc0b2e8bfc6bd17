import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { SearchAttributePair } from "@temporalio/common";
import type { Look } from "../src/contracts/look.ts";
import { HANDLES, QUERY, SIGNAL } from "../src/contracts/names.ts";
import { timerText, publicText } from "../src/domain/history-texts.ts";
import { LONGEST_SLEEP_MS } from "../src/domain/sleeps.ts";
import { pauseAfterMs, type Sleep } from "../src/domain/runs/turns.ts";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);
const progress = defineQuery<Look | null>(QUERY.progress);

/**
 * What follows a turn: another look, a sleep (as long as the look said, or as given), or the
 * end.
 */
export type Next<Result> = "look" | "sleep" | { readonly sleep: Sleep } | End<Result>;

interface End<Result> {
  readonly result: Result;
}

/** How long a workflow whose history is long gathers signals while it waits for work beside it. */
const GATHERS_AT_LAST_MS = 5_000;

/** The pause after a look that names none. */
const LOOKS_AGAIN_MS = 60_000;

const ODD_ANSWER =
  "An activity was answered with something that Payrun's own workers don't return.";

/**
 * True for what the answer of a worker that isn't Payrun's can cause. Such a workflow would fail its
 * tasks for ever; it ends instead, and the janitor starts it again, by what the store says.
 */
function isOddAnswer(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

/** What one kind of workflow adds to the loop. */
export interface Kind<Now extends Look, Result> {
  /** Runs once, before the first look. @returns a result if the work is done already */
  begin?(): Promise<End<Result> | undefined>;
  /** Asks an activity where the workflow stands. */
  look(): Promise<Now>;
  /** The search attributes for Temporal's list. */
  attributes(now: Now): SearchAttributePair[];
  /** Does what the look says is due. */
  act(now: Now): Promise<Next<Result>>;
  /** The input of the next execution. */
  input(): readonly unknown[];
}

/**
 * The loop of every long-lived workflow: look, show, act, sleep, and continue as new when the
 * history gets long.
 *
 * A signal that arrives after a look has begun causes another look before the workflow sleeps or
 * ends. A signal always ends a sleep. The workflow ends only after its handlers and all work beside
 * it have finished.
 */
export class Turns {
  /** True if a signal has arrived since the last look began. */
  #signaled = false;
  /** True if work beside the turns has finished since the last look began. */
  #done = false;
  #atWork = 0;
  /** True if this turn has started work beside it. */
  #began = false;
  /**
   * True once the history is long: this execution ends when the work beside the turns has finished.
   */
  #isLast = false;
  /** Turns in a row that acted without changing anything. */
  #inVain = 0;
  #actedOn = "";
  #last: Look | null = null;

  constructor() {
    const { signal, query } = HANDLES;
    setHandler(eventsArrived, () => this.lookAgain(), { description: signal.eventsArrived });
    setHandler(progress, () => this.#last, { description: query.progress });
  }

  /** Causes another look, soon. */
  lookAgain(): void {
    this.#signaled = true;
  }

  /** False if due work is left to the next execution, which begins as soon as this one may end. */
  get mayBegin(): boolean {
    return !this.#isLast;
  }

  /**
   * Runs `work` while the turns go on, and looks again as soon as it has finished or failed: an
   * activity that fails notifies people itself.
   */
  beside(work: () => Promise<unknown>): void {
    this.#atWork += 1;
    this.#began = true;
    void work()
      .catch((error: unknown) => {
        const isExpected = isCancellation(error) || error instanceof ActivityFailure;
        if (!isExpected && !isOddAnswer(error)) throw error;
      })
      .finally(() => {
        this.#atWork -= 1;
        this.#done = true;
      });
  }

  async toTheEnd<Now extends Look, Result>(kind: Kind<Now, Result>): Promise<Result> {
    try {
      const begun = await kind.begin?.();
      if (begun !== undefined) {
        await this.#finished();
        return begun.result;
      }
      const next = await this.#turn(kind);
      if (next !== "anew") return next.result;
    } catch (error) {
      // Every sender of a decision gets a response, however this ends.
      await CancellationScope.nonCancellable(() => this.#finished());
      if (isOddAnswer(error)) throw ApplicationFailure.nonRetryable(ODD_ANSWER, "OddAnswer");
      throw error;
    }
    return continueAsNew<(...input: readonly unknown[]) => Promise<Result>>(...kind.input());
  }

  async #turn<Now extends Look, Result>(kind: Kind<Now, Result>): Promise<End<Result> | "anew"> {
    for (;;) {
      // Reset before the look: it may miss what arrives while it reads.
      this.#signaled = false;
      this.#done = false;
      this.#began = false;
      const now = await kind.look();
      this.#show(now, kind.attributes(now));
      const next = await kind.act(now);
      if (typeof next === "object" && "result" in next) {
        await this.#finished();
        if (!this.#signaled) return next;
        continue;
      }
      if (workflowInfo().continueAsNewSuggested) this.#isLast = true;
      if (this.#isLast) {
        // The next execution begins with a look, so it sees what has arrived by then.
        await condition(() => this.#signaled || this.#isFinished());
        if (this.#isFinished()) return "anew";
        await condition(() => this.#isFinished(), GATHERS_AT_LAST_MS, {
          summary: "Gathers further signals",
        });
        continue;
      }
      const pauseMs = next === "look" || this.#began ? this.#pauseMs(now) : 0;
      if (next === "look") {
        if (pauseMs > 0) await this.#sleep({ wakeInMs: pauseMs }, 0, now);
      } else {
        await this.#sleep(next === "sleep" ? now : next.sleep, pauseMs, now);
      }
    }
  }

  /** Returns how long to pause, in milliseconds, when acting again and again changes nothing. */
  #pauseMs(now: Look): number {
    const standing = JSON.stringify({ ...now, wakeInMs: 0, auditHead: null });
    this.#inVain = standing === this.#actedOn ? this.#inVain + 1 : 0;
    this.#actedOn = standing;
    return pauseAfterMs(this.#inVain);
  }

  async #sleep({ wakeInMs, gatherMs = 0 }: Sleep, pauseMs: number, now: Look): Promise<void> {
    const beganMs = Date.now();
    const leftOf = (ms: number): number => beganMs + ms - Date.now();
    const summary = timerText(now);
    // A forged answer may name no number.
    const sleepMs = Math.min(Math.max(1, wakeInMs || LOOKS_AGAIN_MS), LONGEST_SLEEP_MS);
    await condition(() => this.#signaled || this.#done, sleepMs, { summary });
    if (!this.#signaled && leftOf(pauseMs) > 0) {
      await condition(() => this.#signaled, leftOf(pauseMs), { summary });
    }
    if (!this.#done && leftOf(gatherMs) > 0) {
      await condition(() => this.#done, leftOf(gatherMs), {
        summary: "Gathers further signals",
      });
    }
  }

  #finished(): Promise<void> {
    return condition(() => this.#isFinished());
  }

  #isFinished(): boolean {
    return this.#atWork === 0 && allHandlersFinished();
  }

  #show(now: Look, attributes: SearchAttributePair[]): void {
    if (this.#last?.details !== now.details) setCurrentDetails(publicText(now.details));
    this.#last = now;
    // Writes nothing if the start or an earlier execution has set the same values.
    const { typedSearchAttributes: shown } = workflowInfo();
    const isShown = ({ key, value }: SearchAttributePair): boolean =>
      JSON.stringify(shown.get(key)) === JSON.stringify(value ?? undefined);
    if (!attributes.every(isShown)) upsertSearchAttributes(attributes);
  }
}
