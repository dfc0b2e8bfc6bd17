import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import {
  isApplied,
  isOpen,
  isUsedUp,
  lookupIsConclusive,
  madeIdsOf,
  mayStillPay,
  openSends,
} from "../../src/ledger/derive.ts";
import type {
  KeyedAttempt,
  Lookup,
  Now,
  Reading,
  Send,
  SendResult,
  Step,
  SubjectFacts,
  Wish,
} from "../../src/ledger/facts.ts";
import { next } from "../../src/ledger/next.ts";
import { cancel, deposit, type Operation, pay } from "../../src/ledger/operations.ts";
import { isSameLine } from "../../src/ledger/shown.ts";
import {
  factsOf,
  keyed,
  MIN,
  OTHER_BYTES,
  OTHER_LINE,
  OTHER_RUN,
  payment,
  sent,
  T0,
  WISH,
} from "./facts.ts";

const RESULTS: readonly SendResult[] = [
  "pending",
  "applied",
  "refused",
  "rejected",
  "conflict",
  "unconfirmed",
  "unknown",
  "not-sent",
];
const IDS = ["p1", "p2", "p3"];

const ids = fc.subarray(IDS);
const minutes = fc.integer({ min: 0, max: 90 });
const clock = fc.option(fc.integer({ min: -5, max: 5 }), { freq: 4 });
const wish = fc.constantFrom<Wish | null>(WISH, OTHER_BYTES, OTHER_LINE, OTHER_RUN, null);

/** An event: minutes since the previous one, and what happened. */
const someSend = fc.record({
  kind: fc.constant("send" as const),
  gapMin: fc.integer({ min: 0, max: 45 }),
  isNewKey: fc.boolean(),
  terms: fc.constantFrom(WISH, OTHER_BYTES, OTHER_LINE, OTHER_RUN),
  result: fc.constantFrom(...RESULTS),
  status: fc.constantFrom(null, 401, 403, 429),
  answeredAfterMin: fc.constantFrom(0, 1, 20),
  madeIds: ids,
  baseline: ids,
  skewMin: clock,
});
const someLookup = fc.record({
  kind: fc.constant("look" as const),
  gapMin: fc.integer({ min: 0, max: 45 }),
  isWhole: fc.boolean(),
  shownIds: ids,
  skewMin: clock,
});
const someLate = fc.record({
  kind: fc.constant("late" as const),
  gapMin: fc.constant(0),
  result: fc.constantFrom(...RESULTS.filter((result) => result !== "pending")),
  madeIds: ids,
});
const someAdoption = fc.record({
  kind: fc.constant("adoption" as const),
  gapMin: fc.constant(0),
  ids: fc.subarray(IDS, { minLength: 1 }),
});
type SendEvent = typeof someSend extends fc.Arbitrary<infer T> ? T : never;
const someEvent = fc.oneof(someSend, someSend, someLookup, someLate, someAdoption);
type AnyEvent = typeof someEvent extends fc.Arbitrary<infer T> ? T : never;

function skewed(atMs: number, skewMin: number | null): number | null {
  return skewMin === null ? null : atMs + skewMin * MIN;
}

/** Returns the rows that these events leave, in this order. */
function rowsOf(events: readonly AnyEvent[]): SubjectFacts {
  const attempts: KeyedAttempt[] = [];
  const lookups: Lookup[] = [];
  let atMs = T0;
  const change = (more: (attempt: KeyedAttempt) => Partial<KeyedAttempt>) => {
    const last = attempts.pop();
    if (last !== undefined) attempts.push({ ...last, ...more(last) });
  };
  for (const [index, event] of events.entries()) {
    atMs += event.gapMin * MIN;
    switch (event.kind) {
      case "send": {
        if (attempts.length === 0 || event.isNewKey) attempts.push(keyed(attempts.length + 1, []));
        const send = sentAt(atMs, index, event);
        change(({ sends }) => ({ sends: [...sends, send] }));
        break;
      }
      case "look": {
        const { isWhole, shownIds, skewMin } = event;
        lookups.push({ begunAtMs: atMs, begunServiceMs: skewed(atMs, skewMin), isWhole, shownIds });
        break;
      }
      case "late":
        change(({ sends, lateAnswers }) => {
          const sendId = sends.at(-1)?.sendId ?? "";
          const { result, madeIds } = event;
          return { lateAnswers: [...lateAnswers, { sendId, result, madeIds }] };
        });
        break;
      case "adoption":
        change(({ adoptedIds }) => ({ adoptedIds: [...adoptedIds, ...event.ids] }));
        break;
    }
  }
  return factsOf(attempts, { lookups });
}

function sentAt(atMs: number, index: number, event: SendEvent): Send {
  const { terms, result, status, answeredAfterMin, madeIds, baseline, skewMin } = event;
  const answeredAtMs = result === "pending" ? null : atMs + answeredAfterMin * MIN + 1_000;
  return sent(result, {
    ...terms,
    sendId: `s${index}`,
    openedAtMs: atMs,
    leaveByMs: atMs + 15_000,
    openedServiceMs: skewed(atMs, skewMin),
    answeredAtMs,
    answerDateMs: answeredAtMs === null ? null : skewed(answeredAtMs, skewMin),
    status: result === "refused" ? status : null,
    madeIds: result === "applied" ? madeIds : [],
    baseline,
  });
}

const events = fc.array(someEvent, { maxLength: 8 });

/** Any rows, and a caller that asks for the next step some time after the last of them. */
const asked = fc
  .record({
    events,
    wish,
    afterMin: minutes,
    readMin: fc.constantFrom(0, 0, 0, 1, 3),
    isWhole: fc.constantFrom(true, true, true, false),
    shown: fc.subarray(IDS),
    status: fc.constantFrom("scheduled", "returned", "cancelled"),
    amountCents: fc.constantFrom(1000, 500),
    skewMin: clock,
    sandbox: fc.boolean(),
    isRestored: fc.constantFrom(false, false, false, true),
  })
  .map((given) => {
    const rows = rowsOf(given.events);
    const facts = given.isRestored
      ? { ...rows, restored: { atMs: T0 + 30 * MIN, serviceMs: null } }
      : rows;
    const lastMs = given.events.reduce((sum, { gapMin }) => sum + gapMin * MIN, T0);
    const atMs = lastMs + given.afterMin * MIN;
    const serviceMs = skewed(atMs, given.skewMin);
    const now: Now = { atMs, serviceMs, sandbox: given.sandbox };
    const begunAtMs = atMs - given.readMin * MIN;
    const { status, amountCents, isWhole, shown: shownIds } = given;
    const shown = shownIds.map((id) => payment(id, { status, amountCents }));
    const begunServiceMs = skewed(begunAtMs, given.skewMin);
    const reading: Reading = { begunAtMs, begunServiceMs, isWhole, shownIds, shown };
    return { facts, wish: given.wish, reading, now };
  });

interface Question {
  readonly facts: SubjectFacts;
  readonly wish: Wish | null;
  readonly reading: Reading;
  readonly now: Now;
}

function answerTo(
  { facts, wish: wished, reading, now }: Question,
  operation: Operation = pay,
): Step {
  return next(operation, facts, wished, reading, now);
}

/** True if each of these sends has a conclusive look after it; the reading counts as a look. */
function isSettled({ facts, reading, now }: Question, sends: readonly Send[]): boolean {
  const lookups = [...facts.lookups, reading];
  return sends.every((send) =>
    lookups.some(
      (look) =>
        look.begunAtMs >= send.openedAtMs && lookupIsConclusive(look, { ...facts, lookups }, now),
    ),
  );
}

const RUNS = { numRuns: 2_000 };

describe("any history, in any order", () => {
  test.prop([asked, fc.constantFrom(pay, cancel, deposit)], RUNS)(
    "the same rows always give the same next step, and a step that reads or needs a person has a reason",
    (question, operation) => {
      const step = answerTo(question, operation);
      expect(answerTo(structuredClone(question), operation)).toEqual(step);
      if (step.kind === "wait") {
        expect(step.waitMs).toBeGreaterThanOrEqual(1_000);
        expect(Number.isFinite(step.waitMs)).toBe(true);
      }
      if (step.kind === "read" || step.kind === "person") expect(step.reason).not.toBe("");
    },
  );

  test.prop([asked], RUNS)(
    "a next key is never taken while an open send has no later conclusive lookup",
    (question) => {
      const step = answerTo(question);
      if (step.kind !== "send" || !step.isNewKey) return;
      expect(isSettled(question, openSends(question.facts))).toBe(true);
    },
  );

  test.prop([asked], RUNS)(
    "a next key is never taken just because a response is missing",
    (question) => {
      const step = answerTo(question);
      const last = question.facts.attempts.at(-1);
      if (step.kind !== "send" || !step.isNewKey || last === undefined) return;
      const facts = { ...question.facts, lookups: [...question.facts.lookups, question.reading] };
      expect(isUsedUp(facts, last, question.now) || isApplied(last)).toBe(true);
      if (isApplied(last)) return;
      const heard = [...last.sends, ...last.lateAnswers].map(({ result }) => result);
      expect(heard.every((result) => ["pending", "unknown"].includes(result))).toBe(false);
    },
  );

  test.prop([asked], RUNS)(
    "other bytes go under a key only if the service certainly has none under it",
    (question) => {
      const step = answerTo(question);
      const last = question.facts.attempts.at(-1);
      if (step.kind !== "send" || step.isNewKey || last === undefined) return;
      if (last.sends.at(-1)?.body === step.terms.body) return;
      const closed = new Set<SendResult>(["not-sent", "refused"]);
      const rest = last.sends.filter(({ result }) => !closed.has(result));
      expect(rest.every(isOpen)).toBe(true);
      expect(isSettled(question, rest)).toBe(true);
    },
  );

  test.prop([asked], RUNS)("nothing is sent while another send may be leaving", (question) => {
    const { facts, now } = question;
    const isLeaving = facts.attempts
      .flatMap(({ sends }) => sends)
      .some(({ result, leaveByMs }) => result === "pending" && leaveByMs >= now.atMs);
    if (isLeaving) expect(["wait", "idle", "applied"]).toContain(answerTo(question).kind);
  });

  test.prop([asked], RUNS)(
    "nothing is sent that isn't wanted, without a reading, or from an old reading",
    (question) => {
      expect(answerTo({ ...question, wish: null }).kind).not.toBe("send");
      expect(next(pay, question.facts, question.wish, null, question.now).kind).not.toBe("send");
      const begunAtMs = question.now.atMs - 2 * MIN;
      const old = { ...question.reading, begunAtMs };
      expect(answerTo({ ...question, reading: old }).kind).not.toBe("send");
    },
  );

  test.prop([asked], RUNS)("nothing is sent while a sandbox's clock is not known", (question) => {
    const now = { ...question.now, sandbox: true, serviceMs: null };
    expect(answerTo({ ...question, now }).kind).not.toBe("send");
  });

  test.prop([asked], RUNS)(
    "an applied attempt that isn't known to be unpaid is not sent again",
    (question) => {
      const { facts, reading } = question;
      const stands = facts.attempts.some((attempt) => {
        const made = madeIdsOf(attempt);
        const isUnpaid = reading.shown.every(({ status }) => status !== "scheduled");
        const isShown = made.every((id) => reading.shownIds.includes(id));
        return isApplied(attempt) && !(made.length > 0 && isShown && isUnpaid);
      });
      // Another line pays the rest of a bill.
      const isOneLine = facts.attempts.every(({ sends }) =>
        sends.every((send) => question.wish !== null && isSameLine(send, question.wish)),
      );
      if (stands && isOneLine) expect(answerTo(question).kind).not.toBe("send");
    },
  );

  test.prop([asked], RUNS)("nothing is adopted that is already explained", (question) => {
    const step = answerTo(question);
    if (step.kind !== "adopt") return;
    const known = question.facts.attempts.flatMap((attempt) => [
      ...madeIdsOf(attempt),
      ...attempt.sends.flatMap(({ baseline }) => baseline),
    ]);
    expect(step.ids.filter((id) => known.includes(id))).toEqual([]);
    const taken = { ...question.facts, othersIds: IDS };
    expect(answerTo({ ...question, facts: taken }).kind).not.toBe("adopt");
  });

  test.prop([asked, fc.constantFrom(...RESULTS), ids], RUNS)(
    "a late response closes nothing, and never undoes an applied one",
    ({ facts, now }, result, madeIds) => {
      const isStillOpen = mayStillPay({ ...facts, lookups: [] }, now);
      const late = facts.attempts.map((attempt) => ({
        ...attempt,
        lateAnswers: [
          ...attempt.lateAnswers,
          ...attempt.sends.map(({ sendId }) => ({ sendId, result, madeIds })),
        ],
      }));
      const after = { ...facts, attempts: late };
      if (isStillOpen) expect(mayStillPay({ ...after, lookups: [] }, now)).toBe(true);
      for (const [index, attempt] of facts.attempts.entries()) {
        const same = late[index];
        if (isApplied(attempt)) expect(same !== undefined && isApplied(same)).toBe(true);
      }
    },
  );

  test.prop([asked], RUNS)("an adoption closes no send", ({ facts }) => {
    const adopted = facts.attempts.map((attempt) => ({ ...attempt, adoptedIds: IDS }));
    expect(openSends({ attempts: adopted })).toHaveLength(openSends(facts).length);
  });
});
