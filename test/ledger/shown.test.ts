import { describe, expect, it } from "vitest";
import type { Lookup, SubjectFacts, Wish } from "../../src/ledger/facts.ts";
import { next } from "../../src/ledger/next.ts";
import { cancel, deposit, pay } from "../../src/ledger/operations.ts";
import { ask, FIRST_KEY, LOOKUP_DUE, SAME_KEY, type Shownish } from "./ask.ts";
import {
  factsOf,
  keyed,
  lookAt,
  MIN,
  nowAt,
  oneKey,
  OTHER_LINE,
  payment,
  readAt,
  sent,
  T0,
  WISH,
} from "./facts.ts";

describe("an applied attempt", () => {
  it("an applied attempt stands, whatever else was sent under its key or any other", () => {
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

  it("an attempt stands as applied even if its response came too late to be its result", () => {
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

  it("an applied attempt is reported without a reading if nothing is wanted and nothing is open", () => {
    const facts = oneKey(sent("applied", { madeIds: ["p1"] }));
    expect(next(pay, facts, null, null, nowAt(1))).toMatchObject({ kind: "applied", ids: ["p1"] });
  });

  it("an applied attempt whose response named no payment is never taken as unpaid", () => {
    expect(ask(oneKey(sent("applied")), WISH, 60)).toMatchObject({ kind: "applied", ids: [] });
  });
});

describe("rule 9: adoption", () => {
  it("a new payment with exactly the terms is adopted as the effect of a send without a response", () => {
    const halves = ["p1", "p2"].map((id) => payment(id, { amountCents: 500 }));
    expect(ask(oneKey(sent("unknown")), WISH, 1, halves)).toEqual({
      kind: "adopt",
      seq: 1,
      ids: ["p1", "p2"],
    });
  });

  it("an effect is adopted even if nothing is wanted any more", () => {
    const step = ask(oneKey(sent("unknown")), null, 1, [payment("p1")]);
    expect(step).toMatchObject({ kind: "adopt", ids: ["p1"] });
  });

  it("an adopted payment counts as found, while other open sends still wait for a conclusive lookup", () => {
    const facts = factsOf([keyed(1, [sent("unknown")], { adoptedIds: ["p1"] })]);
    const found = {
      kind: "applied",
      seq: 1,
      ids: ["p1"],
      found: true,
      line: { runId: WISH.runId, approvedHash: WISH.approvedHash },
    };
    expect(ask(facts, WISH, 1, [payment("p1")])).toEqual(found);
    expect(ask(facts, null, 1, [payment("p1")])).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, null, 33, [payment("p1")])).toEqual(found);
  });

  it.each([
    ["was there before", { baseline: ["p1"] }, {}, []],
    ["is another subject's", {}, {}, ["p1"]],
  ])("a payment that %s is never adopted", (_, send, shown, othersIds) => {
    const facts = factsOf([keyed(1, [sent("unknown", send)])], { othersIds });
    expect(ask(facts, WISH, 1, [payment("p1", shown)])).toMatchObject({ kind: "send", seq: 1 });
  });

  it.each([
    ["a smaller amount", { amountCents: 999 }],
    ["a larger amount", { amountCents: 1001 }],
    ["a payment to another contact", { contactId: "another" }],
    ["a payment on another day", { executionDate: "2026-01-08" }],
    [
      "a payment from another account on another rail",
      { bankAccountId: "another", rail: "SERVICE" },
    ],
  ])(
    "if %s is shown, the ledger waits until no more can appear, then needs a person",
    (_, other) => {
      const shown = [payment("p1", other)];
      expect(ask(oneKey(sent("unknown")), WISH, 1, shown)).toMatchObject(LOOKUP_DUE);
      expect(ask(oneKey(sent("unknown")), WISH, 33, shown)).toMatchObject({
        kind: "person",
        code: "unaccounted",
      });
    },
  );

  it("nothing is adopted if no send is open", () => {
    const step = ask(oneKey(sent("refused")), WISH, 1, [payment("p1")]);
    expect(step).toEqual({ ...SAME_KEY, baseline: ["p1"] });
  });

  it("a found payment is adopted for the send that may still take effect, not for a settled one", () => {
    const facts = factsOf(
      [
        keyed(1, [sent("unconfirmed")]),
        keyed(2, [sent("unknown", { atMin: 34, sendId: "second" })]),
      ],
      { lookups: [lookAt(33)] },
    );
    expect(ask(facts, WISH, 35, [payment("p1")])).toMatchObject({ kind: "adopt", seq: 2 });
  });
  it("a payment that appears only after a conclusive lookup is someone else's and needs no person", () => {
    const part = [payment("theirs", { amountCents: 400 })];
    const asked = (lookups: readonly Lookup[]) =>
      ask(factsOf([keyed(1, [sent("unknown")])], { lookups }), OTHER_LINE, 60, part);
    expect(asked([lookAt(33, ["theirs"])])).toMatchObject({ kind: "person", code: "unaccounted" });
    const { operation: _, ...terms } = OTHER_LINE;
    expect(asked([lookAt(33)])).toEqual({ ...SAME_KEY, terms, baseline: ["theirs"] });
  });
});

describe("rule 10: a restored store", () => {
  const restored = { restored: { atMs: T0, serviceMs: null } };

  it("a restored store sends nothing before a lookup that shows all it may have forgotten", () => {
    const facts = factsOf([], restored);
    expect(ask(facts, WISH, 10)).toEqual({ kind: "wait", reason: "restored", waitMs: 22.25 * MIN });
    const early = next(pay, facts, WISH, readAt(32), nowAt(33));
    expect(early).toMatchObject({ kind: "read" });
    expect(ask(facts, WISH, 32.25)).toEqual(FIRST_KEY);
  });

  it("a restored store adopts exactly the wanted payment as forgotten, under the next key", () => {
    expect(ask(factsOf([], restored), WISH, 33, [payment("p1")])).toEqual({
      kind: "adopt",
      seq: 1,
      ids: ["p1"],
    });
    const adopted = factsOf([keyed(1, [], { adoptedIds: ["p1"] })], restored);
    expect(ask(adopted, WISH, 34, [payment("p1")])).toMatchObject({ kind: "applied", seq: 1 });
  });

  it("a restored store needs a person for a payment that it can't explain", () => {
    const shown = [payment("p1", { amountCents: 400 })];
    expect(ask(factsOf([], restored), WISH, 33, shown)).toMatchObject({ code: "unaccounted" });
    const unpaid = [payment("p1", { amountCents: 400, status: "returned" })];
    expect(ask(factsOf([], restored), WISH, 33, unpaid)).toMatchObject({ kind: "send" });
  });

  it("a restored store doesn't take a payment for a forgotten one if it was made too late for that", () => {
    const known = { restored: { atMs: T0, serviceMs: T0 } };
    const part = (createdMin: number) =>
      ask(factsOf([], known), WISH, 90, [
        payment("p1", { amountCents: 400, createdAtMs: T0 + createdMin * MIN }),
      ]);
    expect(part(32)).toMatchObject({ kind: "person", code: "unaccounted" });
    expect(part(33)).toMatchObject({ kind: "send", seq: 1, baseline: ["p1"] });
  });

  it("a restored store goes on as usual once something was sent after the loss", () => {
    const facts = factsOf([keyed(1, [sent("refused", { atMin: 33 })])], {
      ...restored,
      lookups: [lookAt(32.9)],
    });
    const shown = [payment("p1", { amountCents: 400 })];
    expect(ask(facts, WISH, 34, shown)).toMatchObject({ kind: "send", seq: 1 });
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

  it("a cancel is sent for an existing payment", () => {
    expect(ask1(factsOf([]), "scheduled", 0)).toMatchObject({ kind: "send", seq: 1 });
  });

  it.each(["cancelled", "refunded", "refund_pending"])(
    "a cancel's effect is found in a payment that is %s",
    (status) => {
      expect(ask1(oneKey(cancelled("unknown")), status, 1)).toEqual({
        kind: "adopt",
        seq: 1,
        ids: ["p1"],
      });
    },
  );

  it("a cancel takes the next key if the payment still stands a minute after the 2xx", () => {
    const facts = oneKey(cancelled("applied", { madeIds: ["p1"] }));
    expect(ask1(facts, "scheduled", 0.5)).toMatchObject({ kind: "applied" });
    expect(ask1(facts, "scheduled", 2)).toMatchObject({ kind: "send", seq: 2 });
    expect(ask1(facts, "cancelled", 2)).toMatchObject({ kind: "applied" });
  });

  it("a cancel is over if the payment executed and no cancel can take effect any more", () => {
    const facts = oneKey(cancelled("unknown"));
    expect(ask1(facts, "processing", 5, null)).toMatchObject(LOOKUP_DUE);
    expect(ask1(facts, "processing", 33, null)).toEqual({ kind: "idle" });
  });
});

describe("a deposit", () => {
  const wish: Wish = { ...WISH, operation: "deposit", path: "/v1/balance/deposits" };
  const asked = (facts: SubjectFacts, atMin: number, shown: Shownish) =>
    next(deposit, facts, wish, readAt(atMin, shown), nowAt(atMin));
  const unknown = oneKey(sent("unknown", wish));

  it("a deposit is found in the only transaction of its amount, whatever else moved", () => {
    const shown = [payment("d1", { contactId: null }), payment("d2", { amountCents: 7 })];
    expect(asked(unknown, 1, shown)).toEqual({ kind: "adopt", seq: 1, ids: ["d1"] });
  });

  it("other transactions don't keep a deposit from being made", () => {
    const shown = [payment("d2", { amountCents: 7 }), payment("d3", { bankAccountId: "another" })];
    expect(asked(unknown, 1, shown)).toMatchObject({ kind: "send", seq: 1 });
    const dead = factsOf([keyed(1, [sent("unconfirmed", wish)])], {
      lookups: [lookAt(33, ["d2"])],
    });
    expect(asked(dead, 34, shown)).toMatchObject({ kind: "send", seq: 2 });
  });

  it("a person must decide if two transactions could be the deposit", () => {
    const shown = [payment("d1"), payment("d2")];
    expect(asked(unknown, 1, shown)).toMatchObject(LOOKUP_DUE);
    expect(asked(unknown, 33, shown)).toMatchObject({ kind: "person", code: "unaccounted" });
  });

  it("a restored store never adopts an earlier deposit's transaction", () => {
    const step = asked(factsOf([], { restored: { atMs: T0, serviceMs: null } }), 33, [
      payment("d1"),
    ]);
    expect(step).toMatchObject({ kind: "person", code: "unaccounted" });
  });
});
