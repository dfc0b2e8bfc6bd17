import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  type AdvanceInput,
  conclusiveLookUpFromMs,
  mayAdvanceSeq,
} from "../../../src/domain/attempts/seq.ts";

const WINDOW = { gaveUpAtMs: 1_000_000, httpTimeoutMs: 10_000, ownClock: false };
const UNCONFIRMED: AdvanceInput = {
  lastKey: "unconfirmed",
  owedCents: 500,
  amountCents: 500,
  approved: true,
  unknown: WINDOW,
  lookUp: { atMs: 1_310_000, verdict: "none" },
};

const anyInput: fc.Arbitrary<AdvanceInput> = fc.record({
  lastKey: fc.constantFrom("applied", "replayed-rejection", "unconfirmed", "open"),
  owedCents: fc.integer({ min: 0, max: 1_000 }),
  amountCents: fc.integer({ min: 1, max: 1_000 }),
  approved: fc.boolean(),
  unknown: fc.constant(WINDOW),
  lookUp: fc.option(
    fc.record({
      atMs: fc.integer({ min: 900_000, max: 1_500_000 }),
      verdict: fc.constantFrom("none", "adopt", "partial"),
    }),
  ),
});

describe("the next seq", () => {
  it("may be used once a look-up after the window found nothing", () => {
    expect(mayAdvanceSeq(UNCONFIRMED)).toEqual({ may: true });
  });

  it("waits for a look-up at 5 minutes plus the HTTP timeout, with a margin on our own clock", () => {
    expect(conclusiveLookUpFromMs(WINDOW)).toBe(1_310_000);
    expect(conclusiveLookUpFromMs({ ...WINDOW, ownClock: true })).toBeGreaterThan(1_310_000);
    const early = { ...UNCONFIRMED, lookUp: { atMs: 1_309_999, verdict: "none" as const } };
    const due = { may: false, why: "look-up-due", fromMs: 1_310_000 };
    expect(mayAdvanceSeq(early)).toEqual(due);
    expect(mayAdvanceSeq({ ...UNCONFIRMED, lookUp: null })).toEqual(due);
  });

  it("is refused while the last key is open, nothing is owed or no approval holds", () => {
    expect(mayAdvanceSeq({ ...UNCONFIRMED, lastKey: "open" })).toMatchObject({ why: "key-open" });
    expect(mayAdvanceSeq({ ...UNCONFIRMED, owedCents: 499 })).toMatchObject({
      why: "nothing-owed",
    });
    expect(mayAdvanceSeq({ ...UNCONFIRMED, approved: false })).toMatchObject({
      why: "not-approved",
    });
  });

  it("is refused for what a look-up found: all of it is adopted, a part parks the line", () => {
    const found = (verdict: "adopt" | "partial") =>
      mayAdvanceSeq({ ...UNCONFIRMED, lookUp: { atMs: 1_310_000, verdict } });
    expect(found("adopt")).toEqual({ may: false, why: "adopt" });
    expect(found("partial")).toEqual({ may: false, why: "park" });
  });

  it("needs no look-up after a replayed rejection with nothing unknown before it", () => {
    const rejected = { ...UNCONFIRMED, lastKey: "replayed-rejection", unknown: null } as const;
    expect(mayAdvanceSeq({ ...rejected, lookUp: null })).toEqual({ may: true });
  });

  it("can't be asked about an unconfirmed key without its window", () => {
    expect(() => mayAdvanceSeq({ ...UNCONFIRMED, unknown: null })).toThrow(RangeError);
  });

  test.prop([anyInput])(
    "is never used after an unknown answer without an empty, conclusive look-up, an approval and a debt",
    (input) => {
      if (!mayAdvanceSeq(input).may) return;
      expect(input.lastKey).not.toBe("open");
      expect(input.approved).toBe(true);
      expect(input.owedCents).toBeGreaterThanOrEqual(input.amountCents);
      if (input.lastKey === "applied") return;
      expect(input.lookUp?.verdict).toBe("none");
      expect(input.lookUp?.atMs).toBeGreaterThanOrEqual(1_310_000);
    },
  );
});
