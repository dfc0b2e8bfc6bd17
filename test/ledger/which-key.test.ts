import { describe, expect, it } from "vitest";
import type { Send } from "../../src/ledger/facts.ts";
import { next } from "../../src/ledger/next.ts";
import { pay } from "../../src/ledger/operations.ts";
import { ask, LOOKUP_DUE, NEXT_KEY, SAME_KEY } from "./ask.ts";
import {
  factsOf,
  keyed,
  lookAt,
  MIN,
  nowAt,
  oneKey,
  OTHER_BYTES,
  OTHER_LINE,
  OTHER_RUN,
  payment,
  readAt,
  sent,
  T0,
  WISH,
} from "./facts.ts";

describe("rule 4: the same bytes again", () => {
  it.each(["unknown", "refused", "not-sent"] as const)(
    "the same bytes follow %s under the same key",
    (result) => {
      expect(ask(oneKey(sent(result)), WISH, 1)).toEqual(SAME_KEY);
    },
  );

  it("ten minutes after the key's first send, the same bytes wait for a conclusive lookup", () => {
    const facts = oneKey(sent("unknown"), sent("unknown", { atMin: 9 }));
    expect(ask(facts, WISH, 9.9)).toEqual(SAME_KEY);
    // The last send may have left after 9 minutes and 15 seconds.
    expect(ask(facts, WISH, 10)).toEqual({ ...LOOKUP_DUE, waitMs: 31.25 * MIN });
    expect(ask(facts, WISH, 41.2)).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, WISH, 41.25)).toEqual(SAME_KEY);
  });

  it("the ten minutes count on the service's clock if it is ahead", () => {
    const facts = oneKey(sent("unknown"));
    const ahead = nowAt(5, { serviceMs: T0 + 10 * MIN });
    const read = { ...readAt(5), begunServiceMs: T0 + 10 * MIN };
    expect(next(pay, facts, WISH, read, ahead)).toMatchObject(LOOKUP_DUE);
  });

  it("the ten minutes begin again after a conclusive lookup", () => {
    const sends = [sent("unknown"), sent("unknown", { atMin: 33 })];
    const facts = factsOf([keyed(1, sends)], { lookups: [lookAt(32.9)] });
    expect(ask(facts, WISH, 42)).toEqual(SAME_KEY);
    expect(ask(facts, WISH, 43)).toMatchObject(LOOKUP_DUE);
  });

  it("after a conflict the same bytes wait for a conclusive lookup", () => {
    const facts = oneKey(sent("unknown"), sent("conflict", { atMin: 1 }));
    expect(ask(facts, WISH, 2)).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, WISH, 33.3)).toEqual(SAME_KEY);
  });

  it("the same bytes are sent again for hours after refusals that are not stored", () => {
    const sends = [sent("refused"), sent("refused", { atMin: 60 })];
    expect(ask(oneKey(...sends), WISH, 120, [payment("others", { amountCents: 5 })])).toEqual({
      ...SAME_KEY,
      baseline: ["others"],
    });
  });

  it("a resend keeps the baseline while a send is open", () => {
    const facts = oneKey(sent("unknown", { baseline: ["old"] }));
    const shown = [payment("old", { amountCents: 5 })];
    expect(ask(facts, WISH, 1, shown)).toEqual({ ...SAME_KEY, baseline: ["old"] });
    expect(ask(facts, WISH, 40, shown)).toEqual({ ...SAME_KEY, baseline: ["old"] });
  });
});

describe("rule 7: other bytes", () => {
  it.each(["refused", "not-sent"] as const)(
    "other bytes go under the same key after %s",
    (result) => {
      expect(ask(oneKey(sent(result)), OTHER_BYTES, 1)).toMatchObject({
        kind: "send",
        seq: 1,
        isNewKey: false,
        terms: { body: OTHER_BYTES.body },
      });
    },
  );

  it.each(["unknown", "conflict"] as const)(
    "after %s other bytes wait for a conclusive lookup",
    (result) => {
      const facts = oneKey(sent("unknown"), sent(result, { atMin: 0.5 }));
      expect(ask(facts, OTHER_BYTES, 1)).toMatchObject(LOOKUP_DUE);
      expect(ask(facts, OTHER_BYTES, 33)).toMatchObject({
        kind: "send",
        seq: 1,
        terms: { body: OTHER_BYTES.body },
      });
    },
  );
});

describe("rule 8: the next key", () => {
  it("a next key never follows a missing response, however long it waits and however often it looks up", () => {
    const sends = [sent("unknown"), sent("unknown", { atMin: 40 })];
    const facts = factsOf([keyed(1, sends)], { lookups: [lookAt(39), lookAt(100)] });
    expect(ask(facts, WISH, 100_000)).toEqual(SAME_KEY);
  });

  it("the next key follows a refusal that may be stored, at once", () => {
    expect(ask(oneKey(sent("rejected")), WISH, 1)).toEqual(NEXT_KEY);
  });

  it("the next key waits for a conclusive lookup if an earlier send got no response", () => {
    const facts = oneKey(sent("unknown"), sent("rejected", { atMin: 1 }));
    expect(ask(facts, WISH, 2)).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, WISH, 33)).toEqual(NEXT_KEY);
  });

  it("the next key follows the third refusal of the token, which may be a stored one", () => {
    const refusals = [0, 1, 2].map((atMin) =>
      sent("refused", { atMin, status: 401 + 2 * (atMin % 2) }),
    );
    expect(ask(oneKey(...refusals.slice(1)), WISH, 4)).toEqual(SAME_KEY);
    expect(ask(oneKey(...refusals), WISH, 4)).toEqual(NEXT_KEY);
    const limited = [0, 1, 2].map((atMin) => sent("refused", { atMin, status: 429 }));
    expect(ask(oneKey(...limited), WISH, 4)).toEqual(SAME_KEY);
  });

  it("no next key follows a conflict while a request of ours may still run", () => {
    const facts = oneKey(sent("unknown"), sent("conflict", { atMin: 1 }));
    expect(ask(facts, WISH, 40)).toEqual(SAME_KEY);
  });

  it("the next key follows a conflict after a conclusive lookup, once another lookup has followed", () => {
    const sends = [sent("unknown"), sent("conflict", { atMin: 33 })];
    const facts = factsOf([keyed(1, sends)], { lookups: [lookAt(32.5)] });
    expect(ask(facts, WISH, 34)).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, WISH, 65.3)).toEqual(NEXT_KEY);
  });

  it("the next key follows a conflict if all earlier sends were closed, once a lookup has followed", () => {
    const facts = oneKey(sent("refused"), sent("conflict", { ...OTHER_BYTES, atMin: 1 }));
    expect(ask(facts, OTHER_BYTES, 34)).toMatchObject({ kind: "send", seq: 2, isNewKey: true });
  });

  it("no next key follows a conflict whose earlier send was closed only after it left", () => {
    const late = sent("refused", { answeredAtMs: T0 + 2 * MIN });
    expect(ask(oneKey(late, sent("conflict", { atMin: 1 })), WISH, 34)).toEqual(SAME_KEY);
  });

  it("the next key follows an applied attempt that is known to be unpaid", () => {
    const facts = oneKey(sent("applied", { madeIds: ["p1", "p2"] }));
    const [one, other] = [payment("p1", { status: "returned" }), payment("p2")];
    expect(ask(facts, WISH, 60, [one, other])).toMatchObject({ kind: "applied", seq: 1 });
    expect(ask(facts, WISH, 60, [one])).toMatchObject({ kind: "applied", seq: 1 });
    const unpaid = [one, { ...other, status: "failed" }];
    expect(ask(facts, WISH, 60, unpaid)).toEqual({ ...NEXT_KEY, baseline: ["p1", "p2"] });
  });

  it.each([
    ["another line", OTHER_LINE],
    ["an equal line of another run", OTHER_RUN],
  ])("the next key pays another part of a bill for %s, once the first part is shown", (_, rest) => {
    const facts = oneKey(sent("applied", { madeIds: ["p1"] }));
    expect(ask(facts, rest, 1)).toEqual({ kind: "wait", reason: "not-shown", waitMs: MIN });
    expect(ask(facts, rest, 1, [payment("p1")])).toMatchObject({ kind: "send", seq: 2 });
  });

  it("the next key waits for a lookup if another send beside the applied one is open", () => {
    const facts = oneKey(sent("unknown"), sent("applied", { atMin: 1, madeIds: ["p1"] }));
    const shown = [payment("p1", { status: "failed" })];
    expect(ask(facts, WISH, 5, shown)).toMatchObject(LOOKUP_DUE);
    expect(ask(facts, WISH, 33, shown)).toMatchObject({ kind: "send", seq: 2 });
  });

  it("after seven keys without effect a person must look", () => {
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

describe("keys without effect", () => {
  const lookups = [lookAt(500)];
  const keys = (count: number, send: Send) =>
    factsOf(
      Array.from({ length: count }, (_, index) => keyed(index + 1, [send, send, send])),
      { lookups },
    );

  it("seven keys in a row without effect park the bill for a person", () => {
    const facts = keys(7, sent("rejected", { status: 422 }));
    expect(ask(facts, WISH, 501)).toMatchObject({ kind: "person", code: "refused" });
  });

  it("a day after seven keys without effect the next key is tried, in case a person has fixed the cause", () => {
    const facts = keys(7, sent("rejected", { status: 422 }));
    expect(ask(facts, WISH, 25 * 60)).toMatchObject({ kind: "send", seq: 8 });
  });

  it("keys that a bad token used up don't park the bill, because the whole business waits instead", () => {
    const facts = keys(7, sent("refused", { status: 403 }));
    expect(ask(facts, WISH, 501)).toMatchObject({ kind: "send", seq: 8 });
  });
});
