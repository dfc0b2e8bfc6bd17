import { describe, expect, it } from "vitest";
import type { Send, Step, SubjectFacts, Wish } from "../../src/ledger/facts.ts";
import { next } from "../../src/ledger/next.ts";
import { cancel, deposit, pay } from "../../src/ledger/operations.ts";
import {
  factsOf,
  keyed,
  lookAt,
  MIN,
  nowAt,
  oneKey,
  OTHER_BYTES,
  OTHER_LINE,
  payment,
  readAt,
  sent,
  T0,
  TERMS,
  WISH,
} from "./facts.ts";

/** Read and asked in the same moment, with nothing shown. */
function ask(facts: SubjectFacts, wish: Wish | null, atMin: number, shown = [] as Shownish): Step {
  return next(pay, facts, wish, readAt(atMin, shown), nowAt(atMin));
}

type Shownish = Parameters<typeof readAt>[1];

const FIRST_KEY = { kind: "send", seq: 1, isNewKey: true, baseline: [], terms: TERMS };
const SAME_KEY = { ...FIRST_KEY, isNewKey: false };
const NEXT_KEY = { ...FIRST_KEY, seq: 2 };
const LOOK_DUE = { kind: "rest", reason: "look-due" };

describe("before anything was sent", () => {
  it("reads the subject before its first send", () => {
    expect(next(pay, factsOf([]), WISH, null, nowAt(0))).toMatchObject({ kind: "read" });
  });

  it("sends the first key with what was there before", () => {
    const step = ask(factsOf([]), WISH, 0, [payment("old", { amountCents: 5 })]);
    expect(step).toEqual({ ...FIRST_KEY, baseline: ["old"] });
  });

  it("has nothing to do where nothing is wished, without reading anything", () => {
    expect(next(pay, factsOf([]), null, null, nowAt(0))).toEqual({ kind: "idle" });
  });

  it("sends nothing by a reading of two minutes ago, on either clock", () => {
    const read = readAt(0);
    expect(next(pay, factsOf([]), WISH, read, nowAt(2))).toMatchObject({ kind: "read" });
    const ahead = nowAt(1, { serviceMs: T0 + 2 * MIN });
    expect(next(pay, factsOf([]), WISH, read, ahead)).toMatchObject({ kind: "read" });
    expect(next(pay, factsOf([]), WISH, read, nowAt(1.9))).toEqual(FIRST_KEY);
  });

  it("sends nothing by a reading whose pages disagree", () => {
    const read = { ...readAt(0), isWhole: false };
    expect(next(pay, factsOf([]), WISH, read, nowAt(0))).toMatchObject({ kind: "read" });
  });
});

describe("rule 3: one sender at a time", () => {
  it("rests while another send may be about to leave", () => {
    const facts = oneKey(sent("pending"));
    expect(ask(facts, WISH, 0.1)).toEqual({ kind: "rest", reason: "leaving", restMs: 9_001 });
    expect(ask(facts, null, 0.1)).toMatchObject({ reason: "leaving" });
  });

  it("sends the same again where a sender died over it", () => {
    expect(ask(oneKey(sent("pending")), WISH, 0.5)).toEqual(SAME_KEY);
  });
});

describe("rule 4: the same bytes again", () => {
  it.each(["unknown", "refused", "not-sent"] as const)("follow %s under the same key", (result) => {
    expect(ask(oneKey(sent(result)), WISH, 1)).toEqual(SAME_KEY);
  });

  it("wait for a conclusive look ten minutes after the key's first send", () => {
    const facts = oneKey(sent("unknown"), sent("unknown", { atMin: 9 }));
    expect(ask(facts, WISH, 9.9)).toEqual(SAME_KEY);
    // The last one may have left after 9 minutes and 15 seconds.
    expect(ask(facts, WISH, 10)).toEqual({ ...LOOK_DUE, restMs: 31.25 * MIN });
    expect(ask(facts, WISH, 41.2)).toMatchObject(LOOK_DUE);
    expect(ask(facts, WISH, 41.25)).toEqual(SAME_KEY);
  });

  it("count the ten minutes by the service's clock where that is ahead", () => {
    const facts = oneKey(sent("unknown"));
    const ahead = nowAt(5, { serviceMs: T0 + 10 * MIN });
    const read = { ...readAt(5), begunServiceMs: T0 + 10 * MIN };
    expect(next(pay, facts, WISH, read, ahead)).toMatchObject(LOOK_DUE);
  });

  it("count the ten minutes anew after a conclusive look", () => {
    const sends = [sent("unknown"), sent("unknown", { atMin: 33 })];
    const facts = factsOf([keyed(1, sends)], { looks: [lookAt(32.9)] });
    expect(ask(facts, WISH, 42)).toEqual(SAME_KEY);
    expect(ask(facts, WISH, 43)).toMatchObject(LOOK_DUE);
  });

  it("wait for a conclusive look after a conflict", () => {
    const facts = oneKey(sent("unknown"), sent("conflict", { atMin: 1 }));
    expect(ask(facts, WISH, 2)).toMatchObject(LOOK_DUE);
    expect(ask(facts, WISH, 33.3)).toEqual(SAME_KEY);
  });

  it("go on for hours after refusals that are not stored", () => {
    const sends = [sent("refused"), sent("refused", { atMin: 60 })];
    expect(ask(oneKey(...sends), WISH, 120, [payment("others", { amountCents: 5 })])).toEqual({
      ...SAME_KEY,
      baseline: ["others"],
    });
  });

  it("keep the baseline while a send is open", () => {
    const facts = oneKey(sent("unknown", { baseline: ["old"] }));
    const shown = [payment("old", { amountCents: 5 })];
    expect(ask(facts, WISH, 1, shown)).toEqual({ ...SAME_KEY, baseline: ["old"] });
    expect(ask(facts, WISH, 40, shown)).toEqual({ ...SAME_KEY, baseline: ["old"] });
  });
});

describe("rule 6: a conclusive look", () => {
  const unconfirmed = oneKey(sent("unconfirmed"));

  it("begins 32 minutes after the last bytes can have left, and asks to be made then", () => {
    expect(ask(unconfirmed, WISH, 32)).toEqual({ ...LOOK_DUE, restMs: 15_000 });
    const early = next(pay, unconfirmed, WISH, readAt(32), nowAt(33));
    expect(early).toMatchObject({ kind: "read" });
    expect(ask(unconfirmed, WISH, 32.25)).toEqual(NEXT_KEY);
  });

  it("counts from the answer's date where that came later than the bytes could leave", () => {
    const late = sent("unconfirmed", { answerDateMs: T0 + 5 * MIN, answeredAtMs: T0 + 6 * MIN });
    expect(ask(oneKey(late), WISH, 36.9)).toEqual({ ...LOOK_DUE, restMs: 6_000 });
    expect(ask(oneKey(late), WISH, 37)).toEqual(NEXT_KEY);
  });

  it("never counts from when an answer was recorded, where both clocks are heard", () => {
    const frozen = sent("unconfirmed", { answeredAtMs: T0 + 20 * MIN });
    expect(ask(oneKey(frozen), WISH, 32.25)).toEqual(NEXT_KEY);
  });

  it("has passed on both clocks", () => {
    const behind = T0 + 20 * MIN;
    const step = next(
      pay,
      unconfirmed,
      WISH,
      { ...readAt(40), begunServiceMs: behind },
      nowAt(40, { serviceMs: behind }),
    );
    expect(step).toEqual({ ...LOOK_DUE, restMs: 12.25 * MIN });
    const slowDatabase = { ...readAt(20), begunServiceMs: T0 + 40 * MIN };
    const early = nowAt(20, { serviceMs: T0 + 40 * MIN });
    expect(next(pay, unconfirmed, WISH, slowDatabase, early)).toMatchObject(LOOK_DUE);
  });

  it("goes by the database's clock alone where the service's was not heard", () => {
    const unheard = { serviceMs: null };
    const facts = oneKey(
      sent("unconfirmed", { openedServiceMs: null, answeredAtMs: T0 + 2 * MIN }),
    );
    const readAgain = (atMin: number) => ({ ...readAt(atMin), begunServiceMs: null });
    const early = next(pay, facts, WISH, readAgain(33.9), nowAt(33.9, unheard));
    expect(early).toMatchObject(LOOK_DUE);
    expect(next(pay, facts, WISH, readAgain(34), nowAt(34, unheard))).toEqual(NEXT_KEY);
  });

  it("is none where its counts disagree, however late", () => {
    const facts = factsOf([keyed(1, [sent("unconfirmed")])], {
      looks: [{ ...lookAt(40), isWhole: false }],
    });
    const read = { ...readAt(41), isWhole: false };
    expect(next(pay, facts, WISH, read, nowAt(41))).toMatchObject({ kind: "read" });
  });

  it("may have been recorded by another process", () => {
    const facts = factsOf([keyed(1, [sent("unconfirmed")])], { looks: [lookAt(33)] });
    expect(ask(facts, null, 34)).toEqual({ kind: "idle" });
    expect(ask(facts, WISH, 34)).toEqual(NEXT_KEY);
  });
});

describe("rule 7: other bytes", () => {
  it.each(["refused", "not-sent"] as const)("go under the same key after %s", (result) => {
    expect(ask(oneKey(sent(result)), OTHER_BYTES, 1)).toMatchObject({
      kind: "send",
      seq: 1,
      isNewKey: false,
      terms: { body: OTHER_BYTES.body },
    });
  });

  it.each(["unknown", "conflict"] as const)("wait for a conclusive look after %s", (result) => {
    const facts = oneKey(sent("unknown"), sent(result, { atMin: 0.5 }));
    expect(ask(facts, OTHER_BYTES, 1)).toMatchObject(LOOK_DUE);
    expect(ask(facts, OTHER_BYTES, 33)).toMatchObject({
      kind: "send",
      seq: 1,
      terms: { body: OTHER_BYTES.body },
    });
  });
});

describe("rule 8: the next key", () => {
  it("never follows silence, however long and however often it was looked", () => {
    const sends = [sent("unknown"), sent("unknown", { atMin: 40 })];
    const facts = factsOf([keyed(1, sends)], { looks: [lookAt(39), lookAt(100)] });
    expect(ask(facts, WISH, 100_000)).toEqual(SAME_KEY);
  });

  it("follows a refusal that may be stored, at once", () => {
    expect(ask(oneKey(sent("rejected")), WISH, 1)).toEqual(NEXT_KEY);
  });

  it("waits for a conclusive look where an earlier send had no answer", () => {
    const facts = oneKey(sent("unknown"), sent("rejected", { atMin: 1 }));
    expect(ask(facts, WISH, 2)).toMatchObject(LOOK_DUE);
    expect(ask(facts, WISH, 33)).toEqual(NEXT_KEY);
  });

  it("follows the third refusal of the token, which may be a stored one", () => {
    const refusals = [0, 1, 2].map((atMin) =>
      sent("refused", { atMin, status: 401 + 2 * (atMin % 2) }),
    );
    expect(ask(oneKey(...refusals.slice(1)), WISH, 4)).toEqual(SAME_KEY);
    expect(ask(oneKey(...refusals), WISH, 4)).toEqual(NEXT_KEY);
    const limited = [0, 1, 2].map((atMin) => sent("refused", { atMin, status: 429 }));
    expect(ask(oneKey(...limited), WISH, 4)).toEqual(SAME_KEY);
  });

  it("doesn't follow a conflict that may be a request of ours that still runs", () => {
    const facts = oneKey(sent("unknown"), sent("conflict", { atMin: 1 }));
    expect(ask(facts, WISH, 40)).toEqual(SAME_KEY);
  });

  it("follows a conflict after a conclusive look, once another look came after it", () => {
    const sends = [sent("unknown"), sent("conflict", { atMin: 33 })];
    const facts = factsOf([keyed(1, sends)], { looks: [lookAt(32.5)] });
    expect(ask(facts, WISH, 34)).toMatchObject(LOOK_DUE);
    expect(ask(facts, WISH, 65.3)).toEqual(NEXT_KEY);
  });

  it("follows a conflict where all earlier sends had been closed, once a look came after it", () => {
    const facts = oneKey(sent("refused"), sent("conflict", { ...OTHER_BYTES, atMin: 1 }));
    expect(ask(facts, OTHER_BYTES, 34)).toMatchObject({ kind: "send", seq: 2, isNewKey: true });
  });

  it("doesn't follow a conflict whose earlier send was closed only after it had left", () => {
    const late = sent("refused", { answeredAtMs: T0 + 2 * MIN });
    expect(ask(oneKey(late, sent("conflict", { atMin: 1 })), WISH, 34)).toEqual(SAME_KEY);
  });

  it("follows what was applied and is known to be unpaid", () => {
    const facts = oneKey(sent("applied", { madeIds: ["p1", "p2"] }));
    const [one, other] = [payment("p1", { status: "returned" }), payment("p2")];
    expect(ask(facts, WISH, 60, [one, other])).toMatchObject({ kind: "applied", seq: 1 });
    expect(ask(facts, WISH, 60, [one])).toMatchObject({ kind: "applied", seq: 1 });
    const unpaid = [one, { ...other, status: "failed" }];
    expect(ask(facts, WISH, 60, unpaid)).toEqual({ ...NEXT_KEY, baseline: ["p1", "p2"] });
  });

  it("pays the rest of a bill for another line, once what was paid is shown", () => {
    const facts = oneKey(sent("applied", { madeIds: ["p1"] }));
    expect(ask(facts, OTHER_LINE, 1)).toEqual({ kind: "rest", reason: "not-shown", restMs: MIN });
    expect(ask(facts, OTHER_LINE, 1, [payment("p1")])).toMatchObject({ kind: "send", seq: 2 });
  });

  it("waits for a look where something that was sent beside an applied send is open", () => {
    const facts = oneKey(sent("unknown"), sent("applied", { atMin: 1, madeIds: ["p1"] }));
    const shown = [payment("p1", { status: "failed" })];
    expect(ask(facts, WISH, 5, shown)).toMatchObject(LOOK_DUE);
    expect(ask(facts, WISH, 33, shown)).toMatchObject({ kind: "send", seq: 2 });
  });

  it("leaves it to a person after seven keys that came to nothing", () => {
    const dead = (keys: number) =>
      factsOf(
        Array.from({ length: keys }, (_, index) =>
          keyed(index + 1, [sent("rejected", { atMin: index, sendId: `s${index}` })]),
        ),
      );
    expect(ask(dead(6), WISH, 10)).toMatchObject({ kind: "send", seq: 7 });
    expect(ask(dead(7), WISH, 10)).toMatchObject({ kind: "person", code: "refused" });
  });
});

describe("what was applied", () => {
  it("stands, whatever else was sent under the key or any other", () => {
    const facts = factsOf([
      keyed(1, [sent("unknown"), sent("applied", { atMin: 1, madeIds: ["p1"] })]),
      keyed(2, [sent("refused", { atMin: 40 })]),
    ]);
    expect(ask(facts, WISH, 50)).toMatchObject({
      kind: "applied",
      seq: 1,
      ids: ["p1"],
      found: false,
    });
  });

  it("stands where its answer came too late to be its result", () => {
    const late = { sendId: "late", result: "applied" as const, madeIds: ["p1"] };
    const facts = factsOf([
      keyed(1, [sent("not-sent", { sendId: "late" })], { lateAnswers: [late] }),
    ]);
    expect(ask(facts, WISH, 1)).toMatchObject({
      kind: "applied",
      seq: 1,
      ids: ["p1"],
      found: false,
    });
  });

  it("is told without a reading where nothing is wished and nothing is open", () => {
    const facts = oneKey(sent("applied", { madeIds: ["p1"] }));
    expect(next(pay, facts, null, null, nowAt(1))).toMatchObject({ kind: "applied", ids: ["p1"] });
  });

  it("is never taken for unpaid by an answer that named nothing", () => {
    expect(ask(oneKey(sent("applied")), WISH, 60)).toMatchObject({ kind: "applied", ids: [] });
  });
});

describe("rule 9: adoption", () => {
  it("takes what is new and exactly the terms for the effect of what had no answer", () => {
    const halves = ["p1", "p2"].map((id) => payment(id, { amountCents: 500 }));
    expect(ask(oneKey(sent("unknown")), WISH, 1, halves)).toEqual({
      kind: "adopt",
      seq: 1,
      ids: ["p1", "p2"],
    });
  });

  it("does so also where nothing is wished any more", () => {
    const step = ask(oneKey(sent("unknown")), null, 1, [payment("p1")]);
    expect(step).toMatchObject({ kind: "adopt", ids: ["p1"] });
  });

  it("says that it was found, and still waits for the last word on what is open", () => {
    const facts = factsOf([keyed(1, [sent("unknown")], { adoptedIds: ["p1"] })]);
    const found = {
      kind: "applied",
      seq: 1,
      ids: ["p1"],
      found: true,
      approvedHash: WISH.approvedHash,
    };
    expect(ask(facts, WISH, 1, [payment("p1")])).toEqual(found);
    expect(ask(facts, null, 1, [payment("p1")])).toMatchObject(LOOK_DUE);
    expect(ask(facts, null, 33, [payment("p1")])).toEqual(found);
  });

  it.each([
    ["was there before", { baseline: ["p1"] }, {}, []],
    ["is another subject's", {}, {}, ["p1"]],
  ])("never takes what %s", (_, send, shown, othersIds) => {
    const facts = factsOf([keyed(1, [sent("unknown", send)])], { othersIds });
    expect(ask(facts, WISH, 1, [payment("p1", shown)])).toMatchObject({ kind: "send", seq: 1 });
  });

  it.each([
    ["less", { amountCents: 999 }],
    ["more", { amountCents: 1001 }],
    ["for another contact", { contactId: "another" }],
    ["on another day", { executionDate: "2026-01-08" }],
    ["from another account on another rail", { bankAccountId: "another", rail: "SERVICE" }],
  ])("waits where it is %s until nothing can be added, then asks a person", (_, other) => {
    const shown = [payment("p1", other)];
    expect(ask(oneKey(sent("unknown")), WISH, 1, shown)).toMatchObject(LOOK_DUE);
    expect(ask(oneKey(sent("unknown")), WISH, 33, shown)).toMatchObject({
      kind: "person",
      code: "unaccounted",
    });
  });

  it("takes nothing where nothing is open", () => {
    const step = ask(oneKey(sent("refused")), WISH, 1, [payment("p1")]);
    expect(step).toEqual({ ...SAME_KEY, baseline: ["p1"] });
  });

  it("goes to the send that may still take effect, not to one that was settled", () => {
    const facts = factsOf(
      [
        keyed(1, [sent("unconfirmed")]),
        keyed(2, [sent("unknown", { atMin: 34, sendId: "second" })]),
      ],
      { looks: [lookAt(33)] },
    );
    expect(ask(facts, WISH, 35, [payment("p1")])).toMatchObject({ kind: "adopt", seq: 2 });
  });
});

describe("rule 10: a restored store", () => {
  const restored = { restored: { atMs: T0, serviceMs: null } };

  it("sends nothing before a look to which all that it may have forgotten shows", () => {
    const facts = factsOf([], restored);
    expect(ask(facts, WISH, 10)).toEqual({ kind: "rest", reason: "restored", restMs: 22.25 * MIN });
    const early = next(pay, facts, WISH, readAt(32), nowAt(33));
    expect(early).toMatchObject({ kind: "read" });
    expect(ask(facts, WISH, 32.25)).toEqual(FIRST_KEY);
  });

  it("takes exactly what is wished for what it forgot, under the next key", () => {
    expect(ask(factsOf([], restored), WISH, 33, [payment("p1")])).toEqual({
      kind: "adopt",
      seq: 1,
      ids: ["p1"],
    });
    const adopted = factsOf([keyed(1, [], { adoptedIds: ["p1"] })], restored);
    expect(ask(adopted, WISH, 34, [payment("p1")])).toMatchObject({ kind: "applied", seq: 1 });
  });

  it("leaves another payment that it can't explain to a person", () => {
    const shown = [payment("p1", { amountCents: 400 })];
    expect(ask(factsOf([], restored), WISH, 33, shown)).toMatchObject({ code: "unaccounted" });
    const unpaid = [payment("p1", { amountCents: 400, status: "returned" })];
    expect(ask(factsOf([], restored), WISH, 33, unpaid)).toMatchObject({ kind: "send" });
  });

  it("explains what others have made since by nothing that it may have forgotten", () => {
    const known = { restored: { atMs: T0, serviceMs: T0 } };
    const part = (createdMin: number) =>
      ask(factsOf([], known), WISH, 90, [
        payment("p1", { amountCents: 400, createdAtMs: T0 + createdMin * MIN }),
      ]);
    expect(part(32)).toMatchObject({ kind: "person", code: "unaccounted" });
    expect(part(33)).toMatchObject({ kind: "send", seq: 1, baseline: ["p1"] });
  });

  it("goes on as ever once something was sent after the loss", () => {
    const facts = factsOf([keyed(1, [sent("refused", { atMin: 33 })])], {
      ...restored,
      looks: [lookAt(32.9)],
    });
    const shown = [payment("p1", { amountCents: 400 })];
    expect(ask(facts, WISH, 34, shown)).toMatchObject({ kind: "send", seq: 1 });
  });
});

describe("a gate that has closed", () => {
  it("waits for the last word on what is open, and then has nothing to do", () => {
    const facts = oneKey(sent("unknown"));
    expect(ask(facts, null, 5)).toEqual({ ...LOOK_DUE, restMs: 27.25 * MIN });
    expect(next(pay, facts, null, null, nowAt(5))).toMatchObject({ kind: "read" });
    expect(ask(facts, null, 33)).toEqual({ kind: "idle" });
  });

  it("has nothing to do where every send is closed", () => {
    expect(next(pay, oneKey(sent("rejected")), null, null, nowAt(1))).toEqual({ kind: "idle" });
  });
});

describe("a sandbox", () => {
  const sandbox = { sandbox: true };

  it("sends nothing and proves nothing before its clock is heard", () => {
    const unheard = nowAt(1, { ...sandbox, serviceMs: null });
    const clock = { kind: "rest", reason: "clock" };
    expect(next(pay, factsOf([]), WISH, readAt(1), unheard)).toMatchObject(clock);
    const facts = oneKey(sent("unknown"));
    expect(next(pay, facts, WISH, readAt(1), unheard)).toMatchObject(clock);
    expect(next(pay, facts, null, readAt(1), unheard)).toMatchObject(clock);
  });

  it("counts eight minutes of its wire clock, and of no other", () => {
    const facts = oneKey(sent("unconfirmed"));
    const at = (atMin: number, wireMin: number) => {
      const serviceMs = T0 + wireMin * MIN;
      const read = { ...readAt(atMin), begunServiceMs: serviceMs };
      return next(pay, facts, WISH, read, nowAt(atMin, { ...sandbox, serviceMs }));
    };
    expect(at(600, 8)).toEqual({ ...LOOK_DUE, restMs: 15_000 });
    expect(at(1, 8.25)).toEqual(NEXT_KEY);
  });

  it("counts ten minutes of its wire clock for the same bytes", () => {
    const ago = { openedServiceMs: T0 - 60 * MIN };
    const facts = oneKey(sent("refused", ago), sent("unknown", { atMin: 60 }));
    const read = (atMin: number) => ({ ...readAt(atMin), begunServiceMs: T0 + MIN });
    const step = next(pay, facts, WISH, read(65), nowAt(65, { ...sandbox, serviceMs: T0 + MIN }));
    expect(step).toMatchObject(LOOK_DUE);
  });
});

describe("keys that came to nothing", () => {
  const looks = [lookAt(500)];
  const keys = (count: number, send: Send) =>
    factsOf(
      Array.from({ length: count }, (_, index) => keyed(index + 1, [send, send, send])),
      { looks },
    );

  it("bring a person after seven in a row", () => {
    const facts = keys(7, sent("rejected", { status: 422 }));
    expect(ask(facts, WISH, 501)).toMatchObject({ kind: "person", code: "refused" });
  });

  it("are tried further on another day, when a person has mended the cause", () => {
    const facts = keys(7, sent("rejected", { status: 422 }));
    expect(ask(facts, WISH, 25 * 60)).toMatchObject({ kind: "send", seq: 8 });
  });

  it("for want of a token bring nobody: the whole business waits, and people know", () => {
    const facts = keys(7, sent("refused", { status: 403 }));
    expect(ask(facts, WISH, 501)).toMatchObject({ kind: "send", seq: 8 });
  });
});

describe("a cancel", () => {
  const wish: Wish = {
    ...WISH,
    operation: "cancel",
    path: "/v1/payments/p1/cancel",
    approvedHash: "",
  };
  const ask1 = (facts: SubjectFacts, status: string, atMin: number, asked: Wish | null = wish) =>
    next(cancel, facts, asked, readAt(atMin, [payment("p1", { status })]), nowAt(atMin));
  const cancelled = (result: Parameters<typeof sent>[0], more = {}) =>
    sent(result, { ...wish, baseline: ["p1"], ...more });

  it("is sent for a payment that was there before", () => {
    expect(ask1(factsOf([]), "scheduled", 0)).toMatchObject({ kind: "send", seq: 1 });
  });

  it.each(["cancelled", "refunded", "refund_pending"])(
    "is found in a payment that is %s",
    (status) => {
      expect(ask1(oneKey(cancelled("unknown")), status, 1)).toEqual({
        kind: "adopt",
        seq: 1,
        ids: ["p1"],
      });
    },
  );

  it("takes the next key where the payment still stands a minute after the yes", () => {
    const facts = oneKey(cancelled("applied", { madeIds: ["p1"] }));
    expect(ask1(facts, "scheduled", 0.5)).toMatchObject({ kind: "applied" });
    expect(ask1(facts, "scheduled", 2)).toMatchObject({ kind: "send", seq: 2 });
    expect(ask1(facts, "cancelled", 2)).toMatchObject({ kind: "applied" });
  });

  it("is over where the payment ran, once no cancel can take effect any more", () => {
    const facts = oneKey(cancelled("unknown"));
    expect(ask1(facts, "processing", 5, null)).toMatchObject(LOOK_DUE);
    expect(ask1(facts, "processing", 33, null)).toEqual({ kind: "idle" });
  });
});

describe("a deposit", () => {
  const wish: Wish = { ...WISH, operation: "deposit", path: "/v1/balance/deposits" };
  const asked = (facts: SubjectFacts, atMin: number, shown: Shownish) =>
    next(deposit, facts, wish, readAt(atMin, shown), nowAt(atMin));
  const unknown = oneKey(sent("unknown", wish));

  it("is found in the one transaction of its amount, whatever else moved", () => {
    const shown = [payment("d1", { contactId: null }), payment("d2", { amountCents: 7 })];
    expect(asked(unknown, 1, shown)).toEqual({ kind: "adopt", seq: 1, ids: ["d1"] });
  });

  it("is not hindered by what moved beside it", () => {
    const shown = [payment("d2", { amountCents: 7 }), payment("d3", { bankAccountId: "another" })];
    expect(asked(unknown, 1, shown)).toMatchObject({ kind: "send", seq: 1 });
    const dead = factsOf([keyed(1, [sent("unconfirmed", wish)])], { looks: [lookAt(33, ["d2"])] });
    expect(asked(dead, 34, shown)).toMatchObject({ kind: "send", seq: 2 });
  });

  it("asks a person where two could be it", () => {
    const shown = [payment("d1"), payment("d2")];
    expect(asked(unknown, 1, shown)).toMatchObject(LOOK_DUE);
    expect(asked(unknown, 33, shown)).toMatchObject({ kind: "person", code: "unaccounted" });
  });

  it("is never taken from an earlier one's transaction by a restored store", () => {
    const step = asked(factsOf([], { restored: { atMs: T0, serviceMs: null } }), 33, [
      payment("d1"),
    ]);
    expect(step).toMatchObject({ kind: "person", code: "unaccounted" });
  });
});

describe("what once paid twice", () => {
  it("a conflict beside a send that was wiped out takes no next key: sends can't be wiped out", () => {
    // Lane Z drew and never sent; lane Y sent and heard nothing; then a conflict was answered.
    const facts = oneKey(
      sent("not-sent"),
      sent("unknown", { atMin: 1, sendId: "y" }),
      sent("conflict", { atMin: 2, sendId: "z" }),
    );
    expect(ask(facts, WISH, 3)).toMatchObject(LOOK_DUE);
    // What the service still did with it shows, and is adopted.
    expect(ask(facts, WISH, 20, [payment("p1")])).toMatchObject({ kind: "adopt", seq: 1 });
    expect(ask(facts, WISH, 35)).toEqual(SAME_KEY);
  });
});
