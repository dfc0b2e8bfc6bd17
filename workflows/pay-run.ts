import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { Assessment, Seen } from "../src/contracts/activities.ts";
import { QUERY, SIGNAL, UPDATE } from "../src/contracts/names.ts";
import type { PayRunInput, RunPhase } from "../src/contracts/pay-run.ts";
import { searchAttributesOf } from "../src/contracts/search-attributes.ts";
import { lanesFor } from "../src/domain/lanes.ts";
import { answers, lanes, mail, pages, reads, steps } from "./activities.ts";
import { DirectDecisions } from "./direct-decisions.ts";
import { rootMessage } from "./root-message.ts";

const eventsArrived = defineSignal(SIGNAL.eventsArrived);
const decide = defineUpdate<{ accepted: boolean; reason: string }, [unknown]>(UPDATE.decide);
const decisionSent = defineSignal<[unknown]>(SIGNAL.decide);
const progress = defineQuery<Assessment | null>(QUERY.progress);

/** Of runs that began before it, those that end with an unheard event end as they did. */
const LOOKS_BEFORE_ENDING = "looks-before-ending";

/** Runs that began before it continue as new only where they sleep. */
const CONTINUES_ANYWHERE = "continues-anywhere";

/** Runs of many bills that began before it look while they pay, and rest once all is paid. */
const LOOKS_WHEN_PAID = "looks-when-paid";

/** While lanes pay, looks take requests from them, and what they would find can wait. */
const RESTS_WHILE_PAYING = 5;

/**
 * One pay run: plan, wait for approval, find the money, pay, follow to settlement.
 *
 * The workflow decides nothing about money. Each turn an activity brings the lines up to date and
 * says what there is to do; lanes pay, the follower reads. Signals only say "look".
 */
export async function payRun(input: PayRunInput): Promise<RunPhase> {
  const run = new PayRun(input);
  const begun = await steps.beginRun.executeWithOptions(
    { summary: `Reads the run ${input.runId}` },
    [{ runId: input.runId }],
  );
  if (begun.ended) return begun.phase;
  if (!begun.planned) await run.plan();
  return run.toTheEnd();
}

class PayRun {
  readonly #runId: string;
  #looked = true;
  #lanes = 0;
  /** 1 while deposits are taken a step further, beside the lanes. */
  #deposits = 0;
  #last: Assessment | null = null;
  #followedAtMs = 0;
  #lanesBeganAtMs = 0;
  #lookedWhenPaid = false;
  readonly #direct: DirectDecisions;
  /** What this run has last seen of the store, which must never be older than that. */
  #seen: Seen;

  constructor({ runId, seen, mail }: PayRunInput) {
    this.#runId = runId;
    this.#direct = new DirectDecisions(runId, mail);
    this.#seen = seen === undefined ? {} : { seen };
    setHandler(eventsArrived, () => {
      this.#looked = true;
    });
    setHandler(decisionSent, async (claim) => {
      if (this.#direct.isFull) await this.#direct.leave();
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
    setHandler(progress, () => this.#last);
  }

  async plan(): Promise<void> {
    try {
      const input = { runId: this.#runId };
      await reads.planRun.executeWithOptions({ summary: "Plans: selects, claims, dates" }, [input]);
    } catch (error) {
      if (isCancellation(error)) throw error;
      const reason = rootMessage(error, "the run could not be planned");
      await steps.failRun.executeWithOptions({ summary: "Could not be planned" }, [
        { runId: this.#runId, reason },
      ]);
      throw ApplicationFailure.nonRetryable(reason, "RunFailed");
    }
  }

  async toTheEnd(): Promise<RunPhase> {
    for (;;) {
      if (workflowInfo().continueAsNewSuggested && patched(CONTINUES_ANYWHERE)) {
        await this.#continueAsNew();
      }
      this.#looked = false;
      const now = await steps.assessRun.executeWithOptions({ summary: "Where the run stands" }, [
        { runId: this.#runId, ...this.#seen },
      ]);
      if (now.auditHead !== undefined) this.#seen = { seen: now.auditHead };
      this.#show(now);
      if (now.toPlan === true) {
        await this.plan();
        continue;
      }
      if (now.ended) {
        await condition(() => this.#lanes === 0 && this.#deposits === 0);
        // An event that was told to this run must not end with it: nobody else hears of it.
        const isTold = this.#looked || now.toFollow > 0;
        if (!isTold || !patched(LOOKS_BEFORE_ENDING)) {
          await this.#direct.close();
          return now.phase;
        }
        if (now.toFollow > 0) await this.#follow(now.toFollow);
        continue;
      }
      if (await this.#work(now)) continue;
      if (workflowInfo().continueAsNewSuggested) await this.#continueAsNew();
      const atWork = this.#lanes + this.#deposits;
      const restMs = this.#restMs(now);
      await condition(
        () => (this.#looked && restMs === 0) || this.#lanes + this.#deposits < atWork,
        Math.max(restMs, now.wakeInMs),
        { summary: now.waitingFor ?? now.phase },
      );
    }
  }

  /** True where something was done whose effect should be looked at before sleeping. */
  async #work(now: Assessment): Promise<boolean> {
    if (now.toFund > 0) {
      const { funded } = await steps.fundRun.executeWithOptions(
        { summary: `Finds the money for ${now.toFund} bills` },
        [{ runId: this.#runId }],
      );
      if (funded > 0) return true;
    }
    if (now.toDeposit === true) this.#startDeposits();
    if (now.toPay > 0) this.#startLanes(now.toPay);
    if (now.toFollow === 0 || this.#restMs(now) > 0) return false;
    const changed = await this.#follow(now.toFollow);
    this.#followedAtMs = Date.now();
    this.#lookedWhenPaid = now.phase === "settling";
    return changed > 0;
  }

  /**
   * How long a run of many bills still leaves their payments alone: each look reads all that
   * was paid since its plan. Once nothing is left to pay, the first look comes at once.
   */
  #restMs({ restMs, phase }: Assessment): number {
    if (restMs === undefined) return 0;
    if (!patched(LOOKS_WHEN_PAID)) return Math.max(0, this.#followedAtMs + restMs - Date.now());
    if (phase === "settling" && !this.#lookedWhenPaid) return 0;
    const sinceMs = Math.max(this.#followedAtMs, this.#lanesBeganAtMs);
    const times = this.#lanes > 0 ? RESTS_WHILE_PAYING : 1;
    return Math.max(0, sinceMs + times * restMs - Date.now());
  }

  async #follow(bills: number): Promise<number> {
    const { changed } = await pages.followRun.executeWithOptions(
      { summary: `Reads the payments of ${bills} bills` },
      [{ runId: this.#runId }],
    );
    return changed;
  }

  #startLanes(toPay: number): void {
    if (this.#lanesBeganAtMs === 0) this.#lanesBeganAtMs = Date.now();
    while (this.#lanes < lanesFor(toPay)) {
      this.#lanes += 1;
      const lane = this.#lanes;
      void lanes.payLane
        .executeWithOptions({ summary: `Pays up to ${toPay} bills, lane ${lane}` }, [
          { runId: this.#runId, lane, ...this.#seen },
        ])
        .catch((error: unknown) => this.#tellTrouble("payLane", error))
        .finally(() => {
          this.#lanes -= 1;
        });
    }
  }

  #startDeposits(): void {
    if (this.#deposits > 0) return;
    this.#deposits = 1;
    void lanes.makeDeposits
      .executeWithOptions({ summary: "Makes and follows deposits into the balance" }, [
        { owner: this.#runId, ...this.#seen },
      ])
      .catch((error: unknown) => this.#tellTrouble("makeDeposits", error))
      .finally(() => {
        this.#deposits = 0;
      });
  }

  /** A lane that fails must not look like one that found nothing to do. */
  async #tellTrouble(step: string, error: unknown): Promise<void> {
    if (isCancellation(error)) return;
    const reason = rootMessage(error, "it failed without a reason");
    await steps.tellTrouble.executeWithOptions({ summary: `Tells that ${step} has failed` }, [
      { owner: this.#runId, step, reason },
    ]);
  }

  async #decide(
    claim: unknown,
    how: { readonly via?: "signal" } = {},
  ): Promise<{ accepted: boolean; reason: string }> {
    const told = this.#direct.read();
    // What fails a signal's handler fails the whole run, so there it is tried until it is judged.
    const { verifyDecision } = how.via === "signal" ? mail : answers;
    const verdict = await verifyDecision.executeWithOptions(
      { summary: "Verifies a decision sent to Temporal" },
      [{ runId: this.#runId, claim, ...how }],
    );
    if (told !== undefined) await told;
    this.#looked = true;
    return verdict;
  }

  #show(now: Assessment): void {
    const before = this.#last;
    this.#last = now;
    if (before?.details !== now.details) setCurrentDetails(now.details);
    const attributes = searchAttributesOf(now);
    if (
      before === null ||
      JSON.stringify(searchAttributesOf(before)) !== JSON.stringify(attributes)
    ) {
      upsertSearchAttributes(attributes);
    }
  }

  async #continueAsNew(): Promise<void> {
    await condition(() => this.#lanes === 0 && this.#deposits === 0 && allHandlersFinished());
    await continueAsNew<typeof payRun>({
      runId: this.#runId,
      resumed: true,
      ...this.#seen,
      ...this.#direct.mail,
    });
  }
}
