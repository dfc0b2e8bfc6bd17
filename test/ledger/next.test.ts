import { describe, expect, it } from "vitest";
import { next } from "../../src/ledger/next.ts";
import { pay } from "../../src/ledger/operations.ts";
import { ask, FIRST_KEY, LOOKUP_DUE, NEXT_KEY, SAME_KEY } from "./ask.ts";
import {
  factsOf,
  keyed,
  lookAt,
  MIN,
  nowAt,
  oneKey,
  payment,
  readAt,
  sent,
  T0,
  WISH,
} from "./facts.ts";

describe("before anything was sent", () => {
  it("a subject is read before its first send", () => {
    expect(next(pay, factsOf([]), WISH, null, nowAt(0))).toMatchObject({ kind: "read" });
  });

  it("the first key is sent with everything shown before as its baseline", () => {
    const step = ask(factsOf([]), WISH, 0, [payment("old", { amountCents: 5 })]);
    expect(step).toEqual({ ...FIRST_KEY, baseline: ["old"] });
  });

  it("if nothing is wanted there is nothing to do, and no reading is needed", () => {
    expect(next(pay, factsOf([]), null, null, nowAt(0))).toEqual({ kind: "idle" });
  });

  it("nothing is sent from a reading of two minutes ago, on either clock", () => {
    const read = readAt(0);
    expect(next(pay, factsOf([]), WISH, read, nowAt(2))).toMatchObject({ kind: "read" });
    const ahead = nowAt(1, { serviceMs: T0 + 2 * MIN });
    expect(next(pay, factsOf([]), WISH, read, ahead)).toMatchObject({ kind: "read" });
    expect(next(pay, factsOf([]), WISH, read, nowAt(1.9))).toEqual(FIRST_KEY);
  });

  it("nothing is sent from a reading with something that can't be read", () => {
    const read = { ...readAt(0), isWhole: false };
    expect(next(pay, factsOf([]), WISH, read, nowAt(0))).toMatchObject({
      kind: "wait",
      reason: "unreadable",
    });
  });
});

describe("rule 3: one sender at a time", () => {
  it("a subject waits while another send may be about to leave", () => {
    const facts = oneKey(sent("pending"));
    expect(ask(facts, WISH, 0.1)).toEqual({ kind: "wait", reason: "leaving", waitMs: 9_001 });
    expect(ask(facts, null, 0.1)).toMatchObject({ reason: "leaving" });
  });

  it("if a sender died, the same bytes are sent again", () => {
    expect(ask(oneKey(sent("pending")), WISH, 0.5)).toEqual(SAME_KEY);
  });
});

describe("rule 6: a conclusive lookup", () => {
  const unconfirmed = oneKey(sent("unconfirmed"));

  it("a conclusive lookup is requested 32 minutes after the last bytes can have left", () => {
    expect(ask(unconfirmed, WISH, 32)).toEqual({ ...LOOKUP_DUE, waitMs: 15_000 });
    const early = next(pay, unconfirmed, WISH, readAt(32), nowAt(33));
    expect(early).toMatchObject({ kind: "read" });
    expect(ask(unconfirmed, WISH, 32.25)).toEqual(NEXT_KEY);
  });

  it("a conclusive lookup counts from the response's date if it is later than the bytes could leave", () => {
    const late = sent("unconfirmed", { answerDateMs: T0 + 5 * MIN, answeredAtMs: T0 + 6 * MIN });
    expect(ask(oneKey(late), WISH, 36.9)).toEqual({ ...LOOKUP_DUE, waitMs: 6_000 });
    expect(ask(oneKey(late), WISH, 37)).toEqual(NEXT_KEY);
  });

  it("a conclusive lookup never counts from the time of recording if both clocks are known", () => {
    const frozen = sent("unconfirmed", { answeredAtMs: T0 + 20 * MIN });
    expect(ask(oneKey(frozen), WISH, 32.25)).toEqual(NEXT_KEY);
  });

  it("a conclusive lookup's wait must have passed on both clocks", () => {
    const behind = T0 + 20 * MIN;
    const step = next(
      pay,
      unconfirmed,
      WISH,
      { ...readAt(40), begunServiceMs: behind },
      nowAt(40, { serviceMs: behind }),
    );
    expect(step).toEqual({ ...LOOKUP_DUE, waitMs: 12.25 * MIN });
    const slowDatabase = { ...readAt(20), begunServiceMs: T0 + 40 * MIN };
    const early = nowAt(20, { serviceMs: T0 + 40 * MIN });
    expect(next(pay, unconfirmed, WISH, slowDatabase, early)).toMatchObject(LOOKUP_DUE);
  });

  it("a conclusive lookup is judged by the database's clock alone if the service's is not known", () => {
    const unheard = { serviceMs: null };
    const facts = oneKey(
      sent("unconfirmed", { openedServiceMs: null, answeredAtMs: T0 + 2 * MIN }),
    );
    const readAgain = (atMin: number) => ({ ...readAt(atMin), begunServiceMs: null });
    const early = next(pay, facts, WISH, readAgain(33.9), nowAt(33.9, unheard));
    expect(early).toMatchObject(LOOKUP_DUE);
    expect(next(pay, facts, WISH, readAgain(34), nowAt(34, unheard))).toEqual(NEXT_KEY);
  });

  it("a lookup that shows something that can't be read is not conclusive, however late", () => {
    const facts = factsOf([keyed(1, [sent("unconfirmed")])], {
      lookups: [{ ...lookAt(40), isWhole: false }],
    });
    const read = { ...readAt(41), isWhole: false };
    expect(next(pay, facts, WISH, read, nowAt(41))).toMatchObject({
      kind: "wait",
      reason: "unreadable",
    });
  });

  it("a conclusive lookup may have been recorded by another process", () => {
    const facts = factsOf([keyed(1, [sent("unconfirmed")])], { lookups: [lookAt(33)] });
    expect(ask(facts, null, 34)).toEqual({ kind: "idle" });
    expect(ask(facts, WISH, 34)).toEqual(NEXT_KEY);
  });
});

describe("a gate that has closed", () => {
  it("a closed gate waits for a conclusive lookup of open sends, and then has nothing to do", () => {
    const facts = oneKey(sent("unknown"));
    expect(ask(facts, null, 5)).toEqual({ ...LOOKUP_DUE, waitMs: 27.25 * MIN });
    expect(next(pay, facts, null, null, nowAt(5))).toMatchObject({ kind: "read" });
    expect(ask(facts, null, 33)).toEqual({ kind: "idle" });
  });

  it("a closed gate has nothing to do if every send is closed", () => {
    expect(next(pay, oneKey(sent("rejected")), null, null, nowAt(1))).toEqual({ kind: "idle" });
  });
});

describe("a sandbox", () => {
  const sandbox = { sandbox: true };

  it("in a sandbox nothing is sent or concluded before its clock is known", () => {
    const unheard = nowAt(1, { ...sandbox, serviceMs: null });
    const clock = { kind: "wait", reason: "clock" };
    expect(next(pay, factsOf([]), WISH, readAt(1), unheard)).toMatchObject(clock);
    const facts = oneKey(sent("unknown"));
    expect(next(pay, facts, WISH, readAt(1), unheard)).toMatchObject(clock);
    expect(next(pay, facts, null, readAt(1), unheard)).toMatchObject(clock);
  });

  it("in a sandbox a conclusive lookup waits eight minutes, counted on the wire clock alone", () => {
    const facts = oneKey(sent("unconfirmed"));
    const at = (atMin: number, wireMin: number) => {
      const serviceMs = T0 + wireMin * MIN;
      const read = { ...readAt(atMin), begunServiceMs: serviceMs };
      return next(pay, facts, WISH, read, nowAt(atMin, { ...sandbox, serviceMs }));
    };
    expect(at(600, 8)).toEqual({ ...LOOKUP_DUE, waitMs: 15_000 });
    expect(at(1, 8.25)).toEqual(NEXT_KEY);
  });

  it("in a sandbox the same bytes have ten minutes on the wire clock", () => {
    const ago = { openedServiceMs: T0 - 60 * MIN };
    const facts = oneKey(sent("refused", ago), sent("unknown", { atMin: 60 }));
    const read = (atMin: number) => ({ ...readAt(atMin), begunServiceMs: T0 + MIN });
    const step = next(pay, facts, WISH, read(65), nowAt(65, { ...sandbox, serviceMs: T0 + MIN }));
    expect(step).toMatchObject(LOOKUP_DUE);
  });
});

describe("a case that once paid twice", () => {
  it("a conflict beside another process's send takes no next key, because sends can't be erased", () => {
    // Lane Z leased the line and never sent; lane Y sent and got no response; then came a conflict.
    const facts = oneKey(
      sent("not-sent"),
      sent("unknown", { atMin: 1, sendId: "y" }),
      sent("conflict", { atMin: 2, sendId: "z" }),
    );
    expect(ask(facts, WISH, 3)).toMatchObject(LOOKUP_DUE);
    // If the service carried out the send after all, its payment shows and is adopted.
    expect(ask(facts, WISH, 20, [payment("p1")])).toMatchObject({ kind: "adopt", seq: 1 });
    expect(ask(facts, WISH, 35)).toEqual(SAME_KEY);
  });
});
