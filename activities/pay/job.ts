import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import type { LineState } from "../../src/contracts/line-states.ts";
import type { PlanLine, VendorRecord } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { LimitsInForce } from "../../src/domain/planning/limits.ts";
import type { Reading, Wish } from "../../src/ledger/facts.ts";
import type { SendOutcome } from "../../src/ledger/results.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { LineChange, RunLine } from "../../src/store/lines/lines.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { BusinessFault } from "../shared/business-fault.ts";

/** The owner of a run's lines: for which workflow, business and playbook they are paid. */
export interface PayOwner {
  /** Workflow id that holds the payables' claims: the run, or a retry. */
  readonly owner: string;
  readonly runId: string;
  readonly business: string;
  readonly businessId: string;
  readonly playbook: string;
  readonly policy: PayRunPlaybook;
  /** The limits in force now: the playbook's, and those of the business's profile as it is. */
  readonly limits: () => LimitsInForce;
  /** Where outcomes lead for its lines. */
  readonly lines: LineOwner;
  /** This worker and activity attempt. */
  readonly by: string;
  /** Real instant at which the run's plan was made. */
  readonly plannedAtMs: number;
  /**
   * For a retry: returns the only day on which the payment may run, given the payments that the
   * service shows of its bill; null if nothing of it may be sent any more. For a run, the plan
   * names the day of its lines.
   */
  readonly runsOn?: (shown: readonly Payment[]) => Promise<string | null>;
}

/**
 * Where outcomes lead that mean one thing for a run's own line, and another for a line that a retry
 * pays again.
 */
export interface LineOwner {
  /** Nothing of the line is open. */
  readonly waits: LineState;
  /** A request may still pay it. */
  readonly mayPay: LineState;
  readonly paid: (state: LineState) => LineChange;
  /** Its vendor or bill can't be paid now. */
  readonly lineWaits: (clock: ClockReading) => LineChange;
  readonly onHold: LineChange;
  /** Somebody says first whether the vendor's account is still right. */
  readonly asked: (clock: ClockReading) => LineChange;
  readonly notApproved: LineChange;
  readonly stopped: (code: StoppedCode) => LineChange;
  readonly changed: (reason: string) => LineChange;
  readonly noMoney: LineChange;
  /** True if an outcome without a payment counts only for a line that is still in its state. */
  readonly onlyAsLeased: boolean;
  /** What else is written with an outcome, in its transaction. */
  readonly also: (
    trx: Transaction<Tables>,
    owner: PayOwner,
    job: PayJob,
    outcome: PayOutcome,
    clock: ClockReading,
  ) => Promise<void>;
}

/** Why nothing more of a line is paid. */
export type StoppedCode = "run_cancelled" | "rejected" | "dropped";

/** One line to be paid, leased. */
export interface PayJob {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

/** A line with what was read of it, and what follows from that. */
export interface PreparedJob extends PayJob {
  readonly reading: Reading;
  readonly payments: readonly Payment[];
  /** The vendor's record, as it was read with the bill. */
  readonly record: VendorRecord;
  /** What is to be sent; null if the line is not as it was approved. */
  readonly wish: Wish | null;
  /** What was approved, if nothing seems to be owed any more. */
  readonly approved?: Wish;
  /** The outcome if nothing is sent and nothing of the line is open. */
  readonly otherwise: PayOutcome;
}

/** What came of paying one line. Declines and waits are outcomes, not exceptions. */
export type PayOutcome =
  | {
      readonly kind: "applied";
      readonly payments: readonly Payment[];
      /** All payment ids, including those of `payments`. */
      readonly paymentIds: readonly string[];
      /** True if a lookup found them. */
      readonly found: boolean;
      /** The answer that says so, to be recorded with the line; null if it is recorded already. */
      readonly sent: SendOutcome | null;
    }
  /** A request may still pay; only a lookup or the same key may follow. */
  | { readonly kind: "unknown"; readonly waitMs: number | null; readonly reason: string }
  /** Nothing is open; the line goes back to be leased again. */
  | {
      readonly kind: "back";
      readonly waitMs: number | null;
      readonly reason: string;
      /** Says what it waits for, if that is more than the next try. */
      readonly code?: LineReason;
    }
  | (BusinessFault & {
      readonly scope: "source" | "business";
      /** True if a request of the line may still pay. */
      readonly isOpen: boolean;
    })
  | { readonly kind: "line-wait"; readonly code: LineReason; readonly message: string }
  | { readonly kind: "on-hold"; readonly reason: string }
  | { readonly kind: "not-approved" }
  /** The vendor's record was changed: somebody says first whether the account is still right. */
  | { readonly kind: "record-changed"; readonly record: string; readonly reason: string }
  | { readonly kind: "stopped"; readonly code: StoppedCode }
  | { readonly kind: "parked"; readonly code: LineReason; readonly reason: string }
  | { readonly kind: "paid-elsewhere"; readonly reason: string }
  /** What was approved is not what would be paid now: it goes back to approval. */
  | { readonly kind: "changed"; readonly plan: PlanLine; readonly reason: string };
