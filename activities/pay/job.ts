import type { Attempt } from "../../src/contracts/attempt.ts";
import type { BegunAttempt } from "../../src/domain/attempts/sends.ts";
import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { RunLine } from "../../src/store/lines.ts";

/** One line to be paid, leased, with everything its request is made of. */
export interface PayJob {
  /** Workflow id that holds the payable's claim: a run or a retry. */
  readonly owner: string;
  readonly business: string;
  readonly businessId: string;
  readonly playbook: string;
  readonly policy: PayRunPlaybook;
  readonly line: RunLine;
  readonly plan: PlanLine;
  readonly attempt: Attempt | undefined;
  /** False: the gate is closed, only look-ups may be made. */
  readonly maySend: boolean;
  /** This worker and activity attempt. */
  readonly by: string;
  /** `retry-payment` only for a reinitiation that meets all its conditions. */
  readonly operation: "pay" | "retry-payment";
  /** Real instant at which the run's plan was made. */
  readonly plannedAtMs: number;
  /** Of a line whose gate was opened in the transaction that drew it. */
  readonly opened?: OpenedSend;
  /** True where a passed date may move without asking: retries are always paid as soon as possible. */
  readonly datesMove: boolean;
}

/** A request that is written as about to be sent. */
export interface OpenedSend {
  /** Without the send. */
  readonly frozen: Attempt;
  readonly attempt: BegunAttempt;
  readonly leaseUntilMs: number;
}

/** What paying one line came to. Declines and waits are outcomes, not exceptions. */
export type PayOutcome =
  | {
      readonly kind: "applied";
      /** As it is to be recorded, together with the line. */
      readonly attempt: Attempt;
      readonly payments: readonly Payment[];
      /** True where a look-up found them. */
      readonly found: boolean;
    }
  /** The effect is not known yet; nothing but a look-up or the same key may follow. */
  | { readonly kind: "unknown"; readonly notBeforeMs: number; readonly reason: string }
  /** Nothing was sent; the line goes back to be drawn again. */
  | { readonly kind: "back"; readonly notBeforeMs: number }
  | {
      readonly kind: "business-wait";
      readonly code: string;
      readonly scope: "source" | "business";
      readonly message: string;
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: "line-wait"; readonly code: string; readonly message: string }
  | { readonly kind: "parked"; readonly code: string; readonly reason: string }
  | { readonly kind: "paid-elsewhere"; readonly reason: string }
  /** What was approved is not what would be paid now: it goes back to approval. */
  | { readonly kind: "changed"; readonly plan: PlanLine; readonly reason: string };
