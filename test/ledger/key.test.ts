import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { idempotencyKey } from "../../src/ledger/key.ts";

const id = fc.string({ minLength: 1, maxLength: 60 });
const seq = fc.integer({ min: 1, max: 100_000 });

describe("the idempotency key", () => {
  it("the idempotency key never changes, because another key for the same attempt could pay twice", () => {
    expect(idempotencyKey("biz_1", "payable_1", 1)).toBe(
      "pr1_85e03faeb499c31ea03211d0985b96c01b40034befe01de9",
    );
    expect(idempotencyKey("biz_1", "payable_1", 2)).toBe(
      "pr1_fa0cf23ab9932d78563e1df1a0ae0d778d262ab57ad2205e",
    );
    expect(idempotencyKey("biz_é", "🧾", 999)).toBe(
      "pr1_dcde911dcf2c565d9d7b4eca9f9996454803d8b18931706a",
    );
  });

  test.prop([id, id, seq])(
    "the idempotency key fits into the service's 64 characters",
    (business, subject, n) => {
      expect(idempotencyKey(business, subject, n)).toMatch(/^pr1_[0-9a-f]{48}$/);
    },
  );

  test.prop([fc.uniqueArray(fc.tuple(id, id, seq), { selector: (t) => JSON.stringify(t) })])(
    "the idempotency key differs for every business, subject and seq",
    (attempts) => {
      const keys = new Set(attempts.map((attempt) => idempotencyKey(...attempt)));
      expect(keys.size).toBe(attempts.length);
    },
  );

  it("no idempotency key is made for an empty subject or a seq below 1", () => {
    expect(() => idempotencyKey("", "p", 1)).toThrow(RangeError);
    expect(() => idempotencyKey("b", "", 1)).toThrow(RangeError);
    expect(() => idempotencyKey("b", "p", 0)).toThrow(RangeError);
    expect(() => idempotencyKey("b", "p", 1.5)).toThrow(RangeError);
  });
});
