/** Queues, messages and ledger subjects that clients, gateways and workers share. */

/** For workflows, and for activities that people wait for. */
export const TASK_QUEUE = "payrun";

/**
 * For activities that come in large numbers or take long, so that the rest don't queue behind them.
 */
export const MASS_QUEUE = {
  money: "payrun-money",
  retries: "payrun-retries",
  reading: "payrun-reading",
} as const;

/**
 * Signals carry no facts: the store says what happened. Only a signed decision comes as a signal,
 * because it proves itself.
 */
export const SIGNAL = {
  /** The store has new webhook events, decisions, holds or a cancel request: look. */
  eventsArrived: "eventsArrived",
  /** A signed decision, for systems that can't send updates. The audit trail holds the response. */
  decide: "decide",
} as const;

/** Update for systems that speak to Temporal directly; an activity verifies the signature. */
export const UPDATE = { decide: "decide" } as const;

export const QUERY = { progress: "progress" } as const;

/** What each handler does, for a reader of Temporal's UI or of `temporal workflow metadata`. */
export const HANDLES = {
  signal: {
    eventsArrived:
      "Makes the workflow look at the store now. It carries no facts: whoever sends it changes nothing by it.",
    decide:
      "Takes a signed decision in JWS compact form, for systems that can't send updates. The audit trail has the answer.",
  },
  update: {
    decide:
      "Takes a signed decision in JWS compact form, and answers whether it counts, with a code if it doesn't (docs/codes.md).",
  },
  query: {
    progress:
      "Returns what the last look found: the phase, the result so far, what the workflow waits for, and when it looks again.",
  },
} as const satisfies {
  readonly signal: Readonly<Record<keyof typeof SIGNAL, string>>;
  readonly update: Readonly<Record<keyof typeof UPDATE, string>>;
  readonly query: Readonly<Record<keyof typeof QUERY, string>>;
};

/**
 * Returns the ledger subject of a payment's cancel. The prefix distinguishes it from payables: ids
 * are opaque, and a payment's could equal a payable's.
 */
export function cancelSubject(paymentId: string): string {
  return `cancel/${paymentId}`;
}

/**
 * Returns the trail's subject of the holds on a thing: they are looked up by what a line is, also
 * when the store no longer has them.
 */
export function holdSubject(scope: string, value: string): string {
  return `hold/${scope}/${value}`;
}

/**
 * Returns the ledger subject of a deposit: the funding source, the workflow that needs the money,
 * and the number of its request. A run launched again in an empty store uses the same name.
 */
export function depositSubject(sourceId: string, owner: string, requestNo: number): string {
  return `deposit/${sourceId}/${owner}/${requestNo}`;
}
