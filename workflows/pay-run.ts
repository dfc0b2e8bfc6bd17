import {
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  defineUpdate,
  isCancellation,
  setHandler,
} from "@temporalio/workflow";
import type { SearchAttributePair } from "@temporalio/common";
import type { Assessment, Seen } from "../src/contracts/activities.ts";
import { SIGNAL, UPDATE } from "../src/contracts/names.ts";
import type { PayRunInput, RunPhase } from "../src/contracts/pay-run.ts";
import { searchAttributes } from "../src/contracts/search-attributes.ts";
import { counted } from "../src/domain/counted.ts";
import { lanesFor } from "../src/domain/runs/lanes.ts";
import { followsInMs, type Pace, sleepOfRun } from "../src/domain/runs/turns.ts";
import { answers, lanes, mail, pages, reads, steps } from "./activities.ts";
import { beside, Deposits } from "./beside.ts";
import { DirectDecisions } from "./direct-decisions.ts";
import { rootMessage } from "./root-message.ts";
import { type Kind, type Next, Turns } from "./turns.ts";

const decide = defineUpdate<{ accepted: boolean; reason: string }, [unknown]>(UPDATE.decide);
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
const PLANS = "Plans the run: which bills are paid, from what and on which day";

class PayRun implements Kind<Assessment, RunPhase> {
  readonly #runId: string;
  readonly #turns: Turns;
  readonly #direct: DirectDecisions;
  /** The phase that the last look found. */
  #phase: RunPhase | undefined;
  #lanes = 0;
  readonly #deposits: Deposits;
  #isFollowing = false;
  #followedAtMs = 0;
  #payingSinceMs = 0;
  #hasReadAllPaid = false;
  #isPlanning = false;
  /** The reason why planning failed for good. */
  #unplannable: string | undefined;
  /**
   * The end of the audit trail at the last look: a store that lacks it was restored from an older
   * copy.
   */
  #seen: Seen;

  constructor({ runId, seen, mail: counted }: PayRunInput, turns: Turns) {
    this.#runId = runId;
    this.#turns = turns;
    this.#deposits = new Deposits(turns, runId);
    this.#direct = new DirectDecisions(runId, counted);
    this.#seen = seen === undefined ? {} : { seen };
    setHandler(decisionSent, async (claim) => {
      // An error in a signal handler fails the workflow, so a cancelled workflow still counts the
      // signal.
      if (this.#direct.isFull) await CancellationScope.nonCancellable(() => this.#direct.leave());
      else await this.#decide(claim, { via: "signal" });
    });
    setHandler(decide, (claim) => this.#decide(claim), {
      validator: (_claim: unknown) => {
        if (this.#direct.isFull) {
          throw ApplicationFailure.nonRetryable(
            "this run takes no more decisions directly: send them to the gateway",
          );
        }
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

  close(): Promise<boolean> {
    return this.#direct.close();
  }

  input(): readonly [PayRunInput] {
    return [{ runId: this.#runId, ...this.#seen, ...this.#direct.mail }];
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
    beside(this.#turns, this.#runId, "planRun", async () => {
      try {
        await reads.planRun.executeWithOptions({ summary: PLANS }, [{ runId: this.#runId }]);
      } catch (error) {
        if (isCancellation(error)) throw error;
        const reason = rootMessage(error, "the run could not be planned");
        await steps.endUnplannedRun.executeWithOptions(
          { summary: "Ends the run: it could not be planned" },
          [{ runId: this.#runId, reason }],
        );
        this.#unplannable = reason;
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
    beside(this.#turns, this.#runId, "followPayments", async () => {
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
      beside(this.#turns, this.#runId, "payBills", () =>
        lanes.payBills
          .executeWithOptions({ summary }, [{ runId: this.#runId, lane, ...this.#seen }])
          .finally(() => {
            this.#lanes -= 1;
          }),
      );
    }
  }

  /** Verifies a decision and responds, even if the workflow is cancelled meanwhile. */
  #decide(
    claim: unknown,
    how: { readonly via?: "signal" } = {},
  ): Promise<{ accepted: boolean; reason: string }> {
    return CancellationScope.nonCancellable(async () => {
      const recorded = this.#direct.read();
      // An error in a signal handler fails the whole run, so verification is retried until it
      // succeeds.
      const { verifyDecision } = how.via === "signal" ? mail : answers;
      const verdict = await verifyDecision.executeWithOptions(
        { summary: "Verifies a decision sent to Temporal" },
        [{ runId: this.#runId, claim, ...how }],
      );
      if (recorded !== undefined) await recorded;
      this.#turns.lookAgain();
      return verdict;
    });
  }
}
