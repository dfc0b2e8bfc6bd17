export const TOP_UP_STATES = [
  /** Waits for approval, or is approved and about to be sent. */
  "proposed",
  /** Was sent, and what came of it is not known yet. */
  "sending",
  /** The service has taken it; the money has not arrived. */
  "on-its-way",
  "completed",
  /** Had arrived, and the bank has taken it back. */
  "returned",
  "failed",
  /** Somebody who may has said no. */
  "refused",
  /** Not needed any more, and never sent. */
  "withdrawn",
] as const;
export type TopUpState = (typeof TOP_UP_STATES)[number];

/** States in which a request may still come to a deposit. */
export const OPEN_TOP_UP_STATES: readonly TopUpState[] = ["proposed", "sending", "on-its-way"];

/** States in which money is, or may be, on its way into the balance. */
export const MOVING_TOP_UP_STATES: readonly TopUpState[] = ["sending", "on-its-way"];

/** How much is missing, and by when. Dates are days in New York. */
export interface TopUpTerms {
  readonly amountCents: number;
  /** Execution date of the first bills that the balance doesn't cover. */
  readonly neededOn: string;
  /** The last day on which a deposit still arrives in time. */
  readonly makeBy: string;
  /** When it arrives where it is made on that day, or today where that day has passed. */
  readonly arrivesOn: string;
  /** True where it arrives too late, however soon it is made. */
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
