import { describe, expect, it } from "vitest";
import {
  accountedIds,
  attemptState,
  isOpen,
  isUsedUp,
  lookupIsConclusive,
  madeIdsOf,
  markOf,
  mayStillPay,
  windowMs,
} from "../../src/ledger/derive.ts";
import type { KeyedAttempt, LateAnswer, SendResult } from "../../src/ledger/facts.ts";
import { factsOf, keyed, lookAt, MIN, oneKey, sent, T0 } from "./facts.ts";

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
const OPEN = ["pending", "conflict", "unconfirmed", "unknown"];

/** An attempt with one send of this result, and with late responses. */
function withLate(result: SendResult, ...late: readonly SendResult[]): KeyedAttempt {
  const answers: LateAnswer[] = late.map((each) => ({
    sendId: "it",
    result: each,
    madeIds: each === "applied" ? ["p1"] : [],
  }));
  return keyed(1, [sent(result, { sendId: "it" })], { lateAnswers: answers });
}

describe("a send", () => {
  it.each(RESULTS)(
    "a send with the result %s is open exactly if the service may still carry it out",
    (result) => {
      expect(isOpen(sent(result))).toBe(OPEN.includes(result));
      expect(mayStillPay(oneKey(sent(result)))).toBe(OPEN.includes(result));
    },
  );

  it("a send's mark is the last instant at which it can have left or its response's date, not when it was recorded", () => {
    const answered = sent("conflict", { answerDateMs: T0 + MIN, answeredAtMs: T0 + 9 * MIN });
    expect(markOf(answered)).toEqual({ databaseMs: T0 + 15_000, serviceMs: T0 + MIN });
    expect(markOf(sent("unknown"))).toEqual({ databaseMs: T0 + 15_000, serviceMs: T0 + 15_000 });
    const unheard = sent("unknown", { openedServiceMs: null });
    expect(markOf(unheard)).toEqual({ databaseMs: T0 + 15_000, serviceMs: null });
    expect(markOf(answered, { sandbox: true })).toEqual({ databaseMs: null, serviceMs: T0 + MIN });
  });

  it.each([0, -1, T0 + 2 * 60 * MIN, T0 - 2 * 60 * MIN, 8.64e15])(
    "a response dated %d, hours away from its send, says nothing about when it was sent",
    (answerDateMs) => {
      const answered = sent("conflict", { answerDateMs, answeredAtMs: T0 + 9 * MIN });
      expect(markOf(answered)).toEqual({ databaseMs: T0 + 15_000, serviceMs: T0 + 15_000 });
      const unheard = sent("conflict", { answerDateMs, openedServiceMs: null });
      expect(markOf(unheard)).toEqual({ databaseMs: T0 + 15_000, serviceMs: null });
    },
  );

  it("a send may be carried out for half an hour, in a sandbox for six minutes", () => {
    expect(windowMs(false)).toBe(30 * MIN);
    expect(windowMs(true)).toBe(6 * MIN);
  });
});

describe("a lookup", () => {
  const facts = oneKey(sent("unknown", { baseline: ["old"] }));

  it("a lookup is conclusive only about sends that left before it", () => {
    const two = factsOf([keyed(1, [sent("unknown"), sent("unknown", { atMin: 40 })])], {
      lookups: [lookAt(39)],
    });
    expect(lookupIsConclusive(lookAt(39), two)).toBe(true);
    expect(mayStillPay(two)).toBe(true);
    expect(lookupIsConclusive(lookAt(41), two)).toBe(false);
    expect(mayStillPay({ ...two, lookups: [lookAt(73)] })).toBe(false);
  });

  it("a lookup that shows something unexplained is not conclusive", () => {
    expect(lookupIsConclusive(lookAt(33, ["old"]), facts)).toBe(true);
    expect(lookupIsConclusive(lookAt(33, ["old", "new"]), facts)).toBe(false);
    const [attempt] = facts.attempts;
    const adopted = factsOf(attempt === undefined ? [] : [{ ...attempt, adoptedIds: ["new"] }]);
    expect(lookupIsConclusive(lookAt(33, ["old", "new"]), adopted)).toBe(true);
    expect(lookupIsConclusive(lookAt(33, ["new"]), { ...facts, othersIds: ["new"] })).toBe(true);
  });

  it("a lookup is conclusive only if its counts agree", () => {
    expect(lookupIsConclusive({ ...lookAt(33), isWhole: false }, facts)).toBe(false);
  });

  it("if no send was open, a lookup is conclusive whatever others paid", () => {
    expect(lookupIsConclusive(lookAt(0, ["new"]), oneKey(sent("refused")))).toBe(true);
  });

  it("a lookup is judged by a sandbox's wire clock, and by the longer window unless the caller names a sandbox", () => {
    const look = { ...lookAt(1), begunServiceMs: T0 + 8.25 * MIN };
    expect(lookupIsConclusive(look, facts, { sandbox: true })).toBe(true);
    expect(lookupIsConclusive(look, facts)).toBe(false);
    expect(mayStillPay({ ...facts, lookups: [look] }, { sandbox: true })).toBe(false);
    const unheard = { ...lookAt(60), begunServiceMs: null };
    expect(lookupIsConclusive(unheard, facts, { sandbox: true })).toBe(false);
  });
});

describe("an attempt", () => {
  it.each([
    ["pending", "open"],
    ["unknown", "open"],
    ["conflict", "dead"],
    ["unconfirmed", "dead"],
    ["rejected", "dead"],
    ["refused", "refused"],
    ["not-sent", "refused"],
    ["applied", "applied"],
  ] as const)("an attempt whose only send is %s is %s", (result, state) => {
    const facts = oneKey(sent(result));
    expect(facts.attempts.map((attempt) => attemptState(facts, attempt))).toEqual([state]);
  });

  it("an attempt stays open after a conflict beside a send that may still run", () => {
    const facts = oneKey(sent("unknown"), sent("conflict", { atMin: 1 }));
    expect(facts.attempts.map((attempt) => attemptState(facts, attempt))).toEqual(["open"]);
  });

  it("an attempt made the payments that its responses, late responses and lookups name, each once", () => {
    const attempt = keyed(
      1,
      [sent("applied", { sendId: "it", madeIds: ["p1", "p2"] }), sent("unknown", { atMin: 1 })],
      {
        lateAnswers: [{ sendId: "it", result: "applied", madeIds: ["p2", "p3"] }],
        adoptedIds: ["p3", "p4"],
      },
    );
    expect(madeIdsOf(attempt)).toEqual(["p1", "p2", "p3", "p4"]);
    expect([...accountedIds(factsOf([attempt], { othersIds: ["p9"] }))].toSorted()).toEqual([
      "p1",
      "p2",
      "p3",
      "p4",
      "p9",
    ]);
  });
});

describe("a late answer", () => {
  it.each(["refused", "rejected", "not-sent", "applied"] as const)(
    "a late response %s closes nothing that was open",
    (late) => {
      expect(mayStillPay(factsOf([withLate("unknown", late)]))).toBe(true);
    },
  );

  it.each(RESULTS)("a late response %s never undoes an applied one", (late) => {
    const facts = factsOf([withLate("applied", late)]);
    expect(facts.attempts.map((attempt) => attemptState(facts, attempt))).toEqual(["applied"]);
  });

  it("a late unknown response reopens a send that was closed as not sent", () => {
    expect(mayStillPay(factsOf([withLate("not-sent", "unknown")]))).toBe(true);
  });

  it("a late response counts for the key like one in time", () => {
    const facts = factsOf([withLate("unknown", "rejected")]);
    expect(facts.attempts.map((attempt) => isUsedUp(facts, attempt))).toEqual([true]);
    const applied = factsOf([withLate("unknown", "applied")]);
    expect(applied.attempts.map((attempt) => attemptState(applied, attempt))).toEqual(["applied"]);
  });
});
