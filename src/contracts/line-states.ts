/** What a state means to a person: nothing to do, a wait, a motion, a good end, a bad one. */
export type Tone = "plain" | "wait" | "move" | "good" | "bad";

/** Everything that is asked about a line's state. */
type LineProperty =
  /** Nothing was sent for it, and it can still be approved or left out. */
  | "decidable"
  /**
   * The service doesn't have it, and it isn't to be sent now: it waits for a decision or for a
   * hold's end.
   */
  | "waiting"
  /** It hasn't begun: a hold stops it, and it may still lack its money. */
  | "holdable"
  /** It goes out once the hold on it is lifted. */
  | "letGo"
  /** A planned line begins so. */
  | "beginning"
  /** A lane has leased it, or its request may still pay. */
  | "leased"
  /** A lane may lease it. */
  | "leasable"
  /** Its payments are on their way, as the service reports. */
  | "sent"
  /** The service has its payments and the bank doesn't yet, so that they may be called back. */
  | "recallable"
  /** The bank's word about its payment is still to come. */
  | "withBank"
  /** It may still move money. */
  | "underWay"
  /** Its payments are read when an event is about them. */
  | "followed"
  /** Its payment failed: a retry may pay it. */
  | "failed"
  /** Its payments are not followed yet. */
  | "unfollowed"
  /** A lane or a retry is at it, so that what its request did will be found out. */
  | "workedOn"
  /**
   * Its payments are looked up anyway, before anything more is sent. Following a scheduled line
   * notices payments of more than the bill, but not of more than its part.
   */
  | "lookedUp"
  /** It was sent, or is about to be, and may be sent again after a failure. */
  | "stoppable"
  /** It needs nothing more from its run. */
  | "ended"
  /** It was sent, and its payments have ended. */
  | "paymentEnded"
  /** It counts as paid. */
  | "paid"
  /** A person or its run has ended it, so its retry ends. */
  | "endsRetry"
  /** No run or retry looks after it any more. */
  | "unowned"
  /** Its payment was cancelled before the money moved, or was given back. */
  | "calledBack"
  /** Its money came back, or a person has acted on it or must. */
  | "cameBack"
  /** Its payment may have come back from the bank. */
  | "bounced"
  /** It makes its run end with exceptions. */
  | "endedOddly"
  /** It is an exception of its run. */
  | "exceptional"
  /** It is no exception, whatever its reason code. */
  | "regular"
  /** It needs no approval. */
  | "unasked"
  /** Its vendor's record is compared with what was approved. */
  | "recordWatched"
  /** Its money may be gone by now, once its date has come. */
  | "perhapsTaken"
  /** Its money is taken; a bill that is paid again stays `retrying`. */
  | "taken"
  /** It takes nothing from its account. */
  | "takesNothing"
  /** It takes nothing more: its account's balance is already without what it took. */
  | "takesNoMore"
  /**
   * The whole of it counts in sums at the gate. In another state it does while a request of it
   * is open; otherwise only those of its payments count that are not known to be unpaid.
   */
  | "committed";

function state(word: string, tone: Tone, ...is: readonly LineProperty[]) {
  return { word, tone, is };
}

/**
 * The one table of line states, in the order in which they occur: the word that people read for
 * each, and what is true of it. A test refuses any other list of them.
 */
export const LINE_TABLE = {
  planned: state(
    "To be sent",
    "move",
    "decidable",
    "holdable",
    "letGo",
    "leasable",
    "underWay",
    "lookedUp",
    "unfollowed",
  ),
  "awaiting-approval": state(
    "Waits for approval",
    "wait",
    "decidable",
    "waiting",
    "holdable",
    "beginning",
    "lookedUp",
    "unfollowed",
  ),
  "on-hold": state(
    "On hold",
    "wait",
    "decidable",
    "waiting",
    "letGo",
    "lookedUp",
    "exceptional",
    "unfollowed",
  ),
  paying: state(
    "Being sent",
    "move",
    "leased",
    "leasable",
    "underWay",
    "workedOn",
    "lookedUp",
    "stoppable",
    "perhapsTaken",
    "unfollowed",
  ),
  unknown: state(
    "Answer not known yet",
    "move",
    "leased",
    "leasable",
    "underWay",
    "workedOn",
    "lookedUp",
    "stoppable",
    "exceptional",
    "perhapsTaken",
    "committed",
    "unfollowed",
  ),
  scheduled: state(
    "Scheduled",
    "move",
    "sent",
    "recallable",
    "withBank",
    "underWay",
    "followed",
    "stoppable",
    "recordWatched",
    "perhapsTaken",
    "committed",
  ),
  held: state(
    "Held by the service",
    "wait",
    "sent",
    "recallable",
    "underWay",
    "followed",
    "stoppable",
    "exceptional",
    "recordWatched",
    "committed",
  ),
  processing: state(
    "At the bank",
    "move",
    "sent",
    "withBank",
    "underWay",
    "followed",
    "lookedUp",
    "stoppable",
    "taken",
    "takesNoMore",
    "committed",
  ),
  settled: state(
    "Settled",
    "good",
    "followed",
    "ended",
    "paymentEnded",
    "paid",
    "regular",
    "taken",
    "takesNoMore",
    "committed",
  ),
  retrying: state(
    "Failed, being retried",
    "wait",
    "underWay",
    "failed",
    "workedOn",
    "lookedUp",
    "stoppable",
    "cameBack",
    "bounced",
    "exceptional",
    "recordWatched",
    "committed",
    "unfollowed",
  ),
  parked: state(
    "Needs a person",
    "bad",
    "beginning",
    "failed",
    "stoppable",
    "ended",
    "cameBack",
    "bounced",
    "endedOddly",
    "exceptional",
    "takesNoMore",
    "unfollowed",
  ),
  returned: state(
    "Came back",
    "bad",
    "ended",
    "paymentEnded",
    "cameBack",
    "bounced",
    "endedOddly",
    "exceptional",
    "takesNoMore",
  ),
  refunded: state(
    "Refunded",
    "plain",
    "ended",
    "paymentEnded",
    "unowned",
    "calledBack",
    "cameBack",
    "endedOddly",
    "exceptional",
    "takesNothing",
  ),
  cancelled: state(
    "Cancelled",
    "plain",
    "ended",
    "endsRetry",
    "unowned",
    "calledBack",
    "exceptional",
    "unasked",
    "takesNothing",
  ),
  "paid-elsewhere": state(
    "Paid elsewhere",
    "plain",
    "ended",
    "paid",
    "endsRetry",
    "unowned",
    "exceptional",
    "takesNothing",
  ),
  "given-up": state(
    "Given up",
    "plain",
    "ended",
    "endsRetry",
    "unowned",
    "cameBack",
    "endedOddly",
    "exceptional",
    "takesNothing",
  ),
  skipped: state("Left out", "plain", "beginning", "ended", "regular", "unasked", "takesNothing"),
};
export type LineState = keyof typeof LINE_TABLE;

export const LINE_STATES = Object.keys(LINE_TABLE) as readonly LineState[];

/** The states that have a property: `LINE.leasable` are those of lines that a lane may lease. */
export const LINE = Object.fromEntries(
  Object.values(LINE_TABLE)
    .flatMap(({ is }) => is)
    .map((property) => [
      property,
      LINE_STATES.filter((each) => LINE_TABLE[each].is.includes(property)),
    ]),
) as Partial<Record<string, readonly LineState[]>> as Readonly<
  Record<LineProperty, readonly LineState[]>
>;

/** True if a line's state has a property; a newer version of Payrun may have written the state. */
export function stateIs(property: LineProperty, state: string | null | undefined): boolean {
  return LINE[property].some((each) => each === state);
}
