import {
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";
import type { SearchAttributePair } from "@temporalio/common";
import type { Assessment, Seen, SentDecisionAnswer } from "../src/contracts/activities.ts";
import { HANDLES, SIGNAL, UPDATE } from "../src/contracts/names.ts";
import {
  DECISIONS_READ_MOST,
  type PayRunInput,
  type RunPhase,
  TOO_MANY_DECISIONS,
} from "../src/contracts/pay-run.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { counted } from "../src/domain/counted.ts";
import { lanesFor } from "../src/domain/runs/lanes.ts";
import { followsInMs, type Pace, sleepOfRun } from "../src/domain/runs/turns.ts";
import { answers, lanes, mail, pages, reads, steps } from "./activities.ts";
import { Deposits } from "./deposits.ts";
import { type Kind, type Next, Turns } from "./turns.ts";

const decide = defineUpdate<SentDecisionAnswer, [unknown]>(UPDATE.decide);
const decisionSent = defineSignal<[unknown]>(SIGNAL.decide);

/**
 * Carries out one pay run: plans it, waits for approval, reserves money, pays, and follows each
 * payment to settlement.
 *
 * The workflow decides nothing about money. In each turn, an activity updates the lines and says
 * what to do next. Lanes pay, and another activity reads the payments. Signals only say "look".
 */
export async function payRun(input: PayRunInput): Promise<RunPhase> {
  const turns = new Turns();
  return turns.toTheEnd(new PayRun(input, turns));
}

/** Summaries of the look, by the run's last phase, for a reader of the history. */
const REVIEWS: Readonly<Partial<Record<RunPhase, string>>> = {
  "awaiting-approval": "Counts approvals, and asks who is still missing",
  funding: "Reviews which approved bills have their money",
  paying: "Reviews what is paid, and what is left to pay",
  settling: "Reviews which payments have settled or come back",
};
const REVIEWS_ALL = "Reviews approvals, money and payments";
const READS_NO_MORE = "this run takes no more decisions directly: send them to the gateway";
const PLANS = "Plans the run: which bills are paid, from what and on which day";

class PayRun implements Kind<Assessment, RunPhase> {
  readonly #runId: string;
  readonly #turns: Turns;
  #decisionsRead: number;
  /** The phase that the last look found. */
  #phase: RunPhase | undefined;
  #lanes = 0;
  readonly #deposits: Deposits;
  #isFollowing = false;
  #followedAtMs = 0;
  #payingSinceMs = 0;
  #hasReadAllPaid = false;
  #isPlanning = false;
  /** Why the run can't be planned; it has ended then. */
  #unplannable: string | undefined;
  /**
   * The end of the audit trail at the last look: a store that lacks it was restored from an older
   * copy.
   */
  #seen: Seen;

  constructor({ runId, seen, decisionsRead = 0 }: PayRunInput, turns: Turns) {
    this.#runId = runId;
    this.#turns = turns;
    this.#deposits = new Deposits(turns, runId);
    this.#decisionsRead = decisionsRead;
    this.#seen = seen === undefined ? {} : { seen };
    // An error in a signal handler fails the whole run, so verification is retried until it
    // succeeds.
    const readIfAny = async (claim: unknown): Promise<void> => {
      if (this.#readsDecisions) await this.#decide(claim, mail);
    };
    setHandler(decisionSent, readIfAny, { description: HANDLES.signal.decide });
    setHandler(decide, (claim) => this.#decide(claim, answers), {
      description: HANDLES.update.decide,
      validator: (_claim: unknown) => {
        if (!this.#readsDecisions)
          throw ApplicationFailure.nonRetryable(READS_NO_MORE, TOO_MANY_DECISIONS);
      },
    });
  }

  async begin(): Promise<{ readonly result: RunPhase } | undefined> {
    const runId = this.#runId;
    const summary = "Opens the run: is it planned, and is there work left?";
    const begun = await steps.openRun.executeWithOptions({ summary }, [{ runId }]);
    if (begun.ended) return { result: begun.phase };
    if (!begun.planned) this.#startPlanning();
    return undefined;
  }

  async look(): Promise<Assessment> {
    if (this.#unplannable !== undefined) {
      throw ApplicationFailure.nonRetryable(this.#unplannable, "RunFailed");
    }
    const summary = (this.#phase && REVIEWS[this.#phase]) ?? REVIEWS_ALL;
    const now = await steps.reviewRun.executeWithOptions({ summary }, [
      { runId: this.#runId, ...this.#seen },
    ]);
    this.#phase = now.phase;
    if (now.auditHead !== undefined) this.#seen = { seen: now.auditHead };
    return now;
  }

  attributes(now: Assessment): SearchAttributePair[] {
    const { phase, needsAction, exceptions, totalCents, payDate } = now;
    return searchAttributes({ phase, needsAction, exceptions, totalCents, payDate });
  }

  async act(now: Assessment): Promise<Next<RunPhase>> {
    const { mayBegin } = this.#turns;
    if (now.toPlan === true && mayBegin) this.#startPlanning();
    // The plan's rows may be written before its bills are held back.
    if (this.#isPlanning) return "sleep";
    // A run that ends must read its events first: no other workflow reads them.
    if (now.ended && now.toFollow === 0) return { result: now.phase };
    if (now.toFund > 0 && (await this.#fund(now.toFund)) > 0) return "look";
    if (now.toDeposit === true && mayBegin) this.#deposits.start(this.#seen);
    if (now.toPay > 0 && mayBegin) this.#startLanes(now.toPay);
    const isDue = now.ended || followsInMs(now, this.#pace, Date.now()) === 0;
    if (now.toFollow > 0 && isDue && (mayBegin || now.ended)) this.#startFollowing(now);
    return { sleep: sleepOfRun(now, this.#pace, Date.now()) };
  }

  input(): readonly [PayRunInput] {
    const decisionsRead = this.#decisionsRead;
    const read = decisionsRead === 0 ? {} : { decisionsRead };
    return [{ runId: this.#runId, ...this.#seen, ...read }];
  }

  get #readsDecisions(): boolean {
    return this.#decisionsRead < DECISIONS_READ_MOST;
  }

  get #pace(): Pace {
    return {
      followedAtMs: this.#followedAtMs,
      payingSinceMs: this.#payingSinceMs,
      isPaying: this.#lanes > 0,
      hasReadAllPaid: this.#hasReadAllPaid,
    };
  }

  /** Runs beside the turns, so that a cancellation counts even while the service can't be read. */
  #startPlanning(): void {
    if (this.#isPlanning) return;
    this.#isPlanning = true;
    this.#turns.beside(async () => {
      try {
        const plan = await reads.planRun.executeWithOptions({ summary: PLANS }, [
          { runId: this.#runId },
        ]);
        this.#unplannable = plan.refused;
      } finally {
        this.#isPlanning = false;
      }
    });
  }

  async #fund(bills: number): Promise<number> {
    const summary = `Reserves money for ${counted(bills, "bill")}`;
    const { funded } = await steps.reserveMoney.executeWithOptions({ summary }, [
      { runId: this.#runId },
    ]);
    return funded;
  }

  /**
   * Runs beside the turns, so that decisions, holds and cancellations count even while the service
   * is slow.
   */
  #startFollowing({ toFollow, phase }: Assessment): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const summary = `Reads what became of the payments of ${counted(toFollow, "bill")}`;
    this.#turns.beside(async () => {
      await pages.followPayments
        .executeWithOptions({ summary }, [{ runId: this.#runId }])
        .finally(() => {
          this.#isFollowing = false;
        });
      this.#followedAtMs = Date.now();
      this.#hasReadAllPaid = phase === "settling";
    });
  }

  #startLanes(toPay: number): void {
    if (this.#payingSinceMs === 0) this.#payingSinceMs = Date.now();
    while (this.#lanes < lanesFor(toPay)) {
      this.#lanes += 1;
      const lane = this.#lanes;
      const summary = `Pays up to ${counted(toPay, "bill")} (lane ${lane})`;
      this.#turns.beside(() =>
        lanes.payBills
          .executeWithOptions({ summary }, [{ runId: this.#runId, lane, ...this.#seen }])
          .finally(() => {
            this.#lanes -= 1;
          }),
      );
    }
  }

  /** Verifies a decision and responds, even if the workflow is cancelled meanwhile. */
  #decide(claim: unknown, { verifyDecision }: typeof answers): Promise<SentDecisionAnswer> {
    return CancellationScope.nonCancellable(async () => {
      this.#decisionsRead += 1;
      const summary = "Verifies a decision sent to Temporal";
      const verdict = await verifyDecision.executeWithOptions({ summary }, [
        { runId: this.#runId, claim },
      ]);
      this.#turns.lookAgain();
      return verdict;
    });
  }
}
