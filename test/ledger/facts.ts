import { LEAVE_WITHIN_MS } from "../../src/ledger/derive.ts";
import type {
  KeyedAttempt,
  LateAnswer,
  Lookup,
  Now,
  Reading,
  Send,
  SendResult,
  ShownThing,
  SubjectFacts,
  Terms,
  Wish,
} from "../../src/ledger/facts.ts";

export const MIN = 60_000;

/** The instant, on all clocks, at which the first send of most tests was let through. */
export const T0 = Date.UTC(2026, 0, 5, 15);

export const TERMS: Terms = {
  path: "/v1/payments",
  body: '{"payableId":"bill","amountCents":1000}',
  owner: "run/1",
  runId: "run/1",
  approvedHash: "line-1",
  contactId: "vendor",
  sourceId: "account",
  rail: "PROVIDER",
  amountCents: 1000,
  executionDate: "2026-01-07",
};

export const WISH: Wish = { ...TERMS, operation: "pay" };

/** The same bill with other bytes. */
export const OTHER_BYTES: Wish = { ...WISH, body: '{"payableId":"bill","amountCents":999}' };

/** The rest of the bill: another line, with other bytes. */
export const OTHER_LINE: Wish = { ...OTHER_BYTES, approvedHash: "line-2" };

/** The same amount again, for an otherwise equal line of another run. */
export const OTHER_RUN: Wish = { ...WISH, owner: "run/2", runId: "run/2" };

interface SendOptions extends Partial<Omit<Send, "sendNo" | "result">> {
  /** Minutes after `T0` at which the gate let the send through. */
  readonly atMin?: number;
}

/** A send that was answered, or given up on, two seconds after the gate let it through. */
export function sent(result: SendResult, options: SendOptions = {}): Send {
  const { atMin = 0, ...given } = options;
  const openedAtMs = T0 + atMin * MIN;
  const isAnswered = !["pending", "unknown", "not-sent"].includes(result);
  return {
    ...TERMS,
    sendId: `send-${atMin}-${result}`,
    sendNo: 1,
    sentBy: "worker",
    baseline: [],
    openedAtMs,
    leaveByMs: openedAtMs + LEAVE_WITHIN_MS,
    openedServiceMs: openedAtMs,
    result,
    status: null,
    code: null,
    message: null,
    answeredAtMs: result === "pending" ? null : openedAtMs + 2_000,
    answerDateMs: isAnswered ? openedAtMs + 1_000 : null,
    madeIds: [],
    ...given,
  };
}

export function keyed(
  seq: number,
  sends: readonly Send[],
  more: {
    readonly adoptedIds?: readonly string[];
    readonly lateAnswers?: readonly LateAnswer[];
  } = {},
): KeyedAttempt {
  return {
    attemptId: `attempt-${seq}`,
    seq,
    operation: "pay",
    idempotencyKey: `key-${seq}`,
    createdAtMs: sends[0]?.openedAtMs ?? T0,
    sends: sends.map((send, index) => ({ ...send, sendNo: index + 1 })),
    lateAnswers: [],
    adoptedIds: [],
    ...more,
  };
}

export function factsOf(
  attempts: readonly KeyedAttempt[],
  more: Partial<Omit<SubjectFacts, "attempts">> = {},
): SubjectFacts {
  return { attempts, lookups: [], othersIds: [], restored: null, ...more };
}

/** One key with these sends. */
export function oneKey(...sends: readonly Send[]): SubjectFacts {
  return factsOf([keyed(1, sends)]);
}

export function lookAt(atMin: number, shownIds: readonly string[] = []): Lookup {
  const begunAtMs = T0 + atMin * MIN;
  return { begunAtMs, begunServiceMs: begunAtMs, isWhole: true, shownIds };
}

export function readAt(atMin: number, shown: readonly ShownThing[] = []): Reading {
  return {
    ...lookAt(
      atMin,
      shown.map(({ id }) => id),
    ),
    shown,
  };
}

/** A scheduled payment of exactly the terms in {@link TERMS}. */
export function payment(id: string, more: Partial<ShownThing> = {}): ShownThing {
  return {
    id,
    amountCents: TERMS.amountCents,
    status: "scheduled",
    contactId: TERMS.contactId,
    bankAccountId: TERMS.sourceId,
    rail: TERMS.rail,
    executionDate: TERMS.executionDate,
    createdAtMs: null,
    ...more,
  };
}

export function nowAt(atMin: number, more: Partial<Now> = {}): Now {
  const atMs = T0 + atMin * MIN;
  return { atMs, serviceMs: atMs, sandbox: false, ...more };
}
