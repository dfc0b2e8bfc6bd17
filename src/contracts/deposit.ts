export const TOP_UP_STATES = [
  /** Waits for approval, or is approved and not sent yet. */
  "proposed",
  /** Sent; its result is not known yet. */
  "sending",
  /** The service has accepted it; the money has not arrived. */
  "on-its-way",
  "completed",
  /** The money had arrived, and the bank took it back. */
  "returned",
  "failed",
  /** An approver has rejected it. */
  "refused",
  /** No longer needed, and never sent. */
  "withdrawn",
] as const;
export type TopUpState = (typeof TOP_UP_STATES)[number];

/** States in which a deposit may still be made. */
export const OPEN_TOP_UP_STATES: readonly TopUpState[] = ["proposed", "sending", "on-its-way"];

/** States in which money is, or may be, on its way into the balance. */
export const MOVING_TOP_UP_STATES: readonly TopUpState[] = ["sending", "on-its-way"];

/** How much is missing, and by when. Dates are days in New York. */
export interface TopUpTerms {
  readonly amountCents: number;
  /** Execution date of the first bills that the balance doesn't cover. */
  readonly neededOn: string;
  /** The last day on which a deposit still arrives in time; today if that day has passed. */
  readonly makeBy: string;
  /** Arrival date of a deposit made on `makeBy`. */
  readonly arrivesOn: string;
  /** True if it arrives too late even when made now. */
  readonly late: boolean;
}

/** The bank account that a deposit is taken from. */
export interface TopUpAccount {
  readonly bankAccountId: string;
  readonly name: string | null;
  readonly last4: string | null;
}

/** A deposit as a plan proposes it. */
export interface PlannedTopUp extends TopUpTerms {
  readonly account: TopUpAccount;
  readonly approvers: readonly string[];
  readonly quorum: number;
}
