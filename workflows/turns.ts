import {
  allHandlersFinished,
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
import { QUERY, SIGNAL } from "../src/contracts/names.ts";
import { timerText, publicText } from "../src/domain/history-texts.ts";
import { pauseAfterMs, type Rest } from "../src/domain/runs/turns.ts";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);
const progress = defineQuery<Look | null>(QUERY.progress);

/**
 * What comes of a turn: another look, at once or a moment later if nothing is told before, a rest
 * as the look said or another, or the end.
 */
export type Next<Result> =
  | "look"
  | { readonly lookInMs: number }
  | "rest"
  | { readonly rest: Rest }
  | End<Result>;

interface End<Result> {
  readonly result: Result;
}

/** One kind of workflow, as far as it differs from the others. */
export interface Kind<Now extends Look, Result> {
  /** Once, before the first look; something where the work was done already. */
  begin?(): Promise<End<Result> | undefined>;
  /** Where it stands: an activity says so. */
  look(): Promise<Now>;
  /** What it shows of that in Temporal's list. */
  attributes(now: Now): SearchAttributePair[];
  /** Does what there is to do. */
  act(now: Now): Promise<Next<Result>>;
  /** Says what is left to be said before the end; false where there was nothing. */
  close?(): Promise<boolean>;
  /** With what it goes on as a new execution. */
  input(): readonly unknown[];
}

/**
 * The one loop of every workflow that lives long: look, show, act, rest, and go on as a new
 * execution where the history is long.
 *
 * Whatever it is told after a look has begun makes it look again, before it rests or ends; a rest
 * always ends when it is told something. It ends only when its handlers and all work beside it have.
 */
export class Turns {
  /** True where something was said since the last look began. */
  #told = false;
  /** True where work beside the turns has ended since then. */
  #done = false;
  #atWork = 0;
  /** True where this turn has begun some work beside it. */
  #began = false;
  /** Turns in a row that have acted, and found everything as it was. */
  #inVain = 0;
  #actedOn = "";
  #last: Look | null = null;

  constructor() {
    setHandler(eventsArrived, () => this.tell());
    setHandler(progress, () => this.#last);
  }

  /** Has it look, soon. */
  tell(): void {
    this.#told = true;
  }

  /** Has something done while the turns go on; there is a look as soon as it has ended. */
  beside(work: () => Promise<void>): void {
    this.#atWork += 1;
    this.#began = true;
    void work()
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
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
        await this.#close(kind);
        return begun.result;
      }
      const next = await this.#turn(kind);
      if (next !== "anew") return next.result;
    } catch (error) {
      // Whoever has sent a decision gets an answer, however this ends.
      await CancellationScope.nonCancellable(() => this.#close(kind));
      throw error;
    }
    return continueAsNew<(...input: readonly unknown[]) => Promise<Result>>(...kind.input());
  }

  async #turn<Now extends Look, Result>(kind: Kind<Now, Result>): Promise<End<Result> | "anew"> {
    for (;;) {
      // Before the look: what is told while it looks may have come too late for it.
      this.#told = false;
      this.#done = false;
      this.#began = false;
      const now = await kind.look();
      this.#show(now, kind.attributes(now));
      const next = await kind.act(now);
      if (typeof next === "object" && "result" in next) {
        if (await this.#mayEnd(kind)) return next;
        continue;
      }
      if (workflowInfo().continueAsNewSuggested) {
        // What it is told meanwhile the next execution sees: it begins with a look.
        await this.#finished();
        return "anew";
      }
      const isLook = next === "look" || (typeof next === "object" && "lookInMs" in next);
      const pauseMs = isLook || this.#began ? this.#pauseMs(now) : 0;
      if (isLook) {
        const wakeInMs = Math.max(pauseMs, next === "look" ? 0 : next.lookInMs);
        if (wakeInMs > 0) await this.#rest({ wakeInMs }, 0, now);
      } else {
        await this.#rest(next === "rest" ? now : next.rest, pauseMs, now);
      }
    }
  }

  /** How long to pause for whoever acts again and again though nothing comes of it. */
  #pauseMs(now: Look): number {
    const standing = JSON.stringify({ ...now, wakeInMs: 0, auditHead: null });
    this.#inVain = standing === this.#actedOn ? this.#inVain + 1 : 0;
    this.#actedOn = standing;
    return pauseAfterMs(this.#inVain);
  }

  async #rest({ wakeInMs, gatherMs = 0 }: Rest, pauseMs: number, now: Look): Promise<void> {
    const beganMs = Date.now();
    const leftOf = (ms: number): number => beganMs + ms - Date.now();
    const summary = timerText(now);
    await condition(() => this.#told || this.#done, Math.max(1, wakeInMs), { summary });
    if (!this.#told && leftOf(pauseMs) > 0) {
      await condition(() => this.#told, leftOf(pauseMs), { summary });
    }
    if (!this.#done && leftOf(gatherMs) > 0) {
      await condition(() => this.#done, leftOf(gatherMs), {
        summary: "Gathers what else it is told",
      });
    }
  }

  async #mayEnd<Now extends Look, Result>(kind: Kind<Now, Result>): Promise<boolean> {
    do {
      await this.#finished();
      if (this.#told) return false;
    } while ((await kind.close?.()) === true);
    return true;
  }

  async #close<Now extends Look, Result>(kind: Kind<Now, Result>): Promise<void> {
    do await this.#finished();
    while ((await kind.close?.()) === true);
  }

  #finished(): Promise<void> {
    return condition(() => this.#atWork === 0 && allHandlersFinished());
  }

  #show(now: Look, attributes: SearchAttributePair[]): void {
    if (this.#last?.details !== now.details) setCurrentDetails(publicText(now.details));
    this.#last = now;
    // What its start said, and what an execution before it showed, stands already.
    const { typedSearchAttributes: shown } = workflowInfo();
    const isShown = ({ key, value }: SearchAttributePair): boolean =>
      JSON.stringify(shown.get(key)) === JSON.stringify(value ?? undefined);
    if (!attributes.every(isShown)) upsertSearchAttributes(attributes);
  }
}
