import type { PlanLine } from "../../src/contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import type { Reading, Wish } from "../../src/ledger/facts.ts";
import type { SendOutcome } from "../../src/ledger/results.ts";
import type { Payment } from "../../src/payments-api/index.ts";
import type { RunLine } from "../../src/store/lines/lines.ts";
import type { BusinessFault } from "../shared/business-fault.ts";

/** Lines of one run, and for whom they are paid. */
export interface PayOwner {
  /** Workflow id that holds the payables' claims: the run, or a retry. */
  readonly owner: string;
  readonly runId: string;
  readonly business: string;
  readonly businessId: string;
  readonly playbook: string;
  readonly policy: PayRunPlaybook;
  /** This worker and activity attempt. */
  readonly by: string;
  /** Real instant at which the run's plan was made. */
  readonly plannedAtMs: number;
  /**
   * Of a retry: the only day on which it may run by the payments that the service shows of its bill,
   * null where nothing of it may be sent any more. The plan of a run names the day of its lines.
   */
  readonly runsOn?: (shown: readonly Payment[]) => Promise<string | null>;
}

/** One line to be paid, leased. */
export interface PayJob {
  readonly line: RunLine;
  readonly plan: PlanLine;
}

/** A line with what was read of it, and what that says. */
export interface PreparedJob extends PayJob {
  readonly reading: Reading;
  readonly payments: readonly Payment[];
  /** What is to be sent; null where the line is not as it was approved. */
  readonly wish: Wish | null;
  /** What was approved, where nothing seems to be owed any more. */
  readonly approved?: Wish;
  /** What becomes of the line then, unless something of it is open. */
  readonly otherwise: PayOutcome;
}

/** What paying one line came to. Declines and waits are outcomes, not exceptions. */
export type PayOutcome =
  | {
      readonly kind: "applied";
      readonly payments: readonly Payment[];
      /** Those of `payments` among them. */
      readonly paymentIds: readonly string[];
      /** True where a look found them. */
      readonly found: boolean;
      /** The answer that says so, to be recorded with the line; none where it is recorded already. */
      readonly sent: SendOutcome | null;
    }
  /** A request may still pay; nothing but a look or the same key may follow. */
  | { readonly kind: "unknown"; readonly waitMs: number | null; readonly reason: string }
  /** Nothing is open; the line goes back to be leased again. */
  | { readonly kind: "back"; readonly waitMs: number | null; readonly reason: string }
  | (BusinessFault & {
      readonly scope: "source" | "business";
      /** True where a request of the line may still pay. */
      readonly isOpen: boolean;
    })
  | { readonly kind: "line-wait"; readonly code: string; readonly message: string }
  | { readonly kind: "on-hold"; readonly reason: string }
  | { readonly kind: "not-approved" }
  | { readonly kind: "stopped"; readonly code: "run-cancelled" | "rejected" }
  | { readonly kind: "parked"; readonly code: string; readonly reason: string }
  | { readonly kind: "paid-elsewhere"; readonly reason: string }
  /** What was approved is not what would be paid now: it goes back to approval. */
  | { readonly kind: "changed"; readonly plan: PlanLine; readonly reason: string };
