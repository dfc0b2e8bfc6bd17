import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { formatUsd, sumCents } from "../../src/domain/money.ts";

const cents = fc.integer({ min: -1_000_000_000_00, max: 1_000_000_000_00 });

describe("money", () => {
  it("amounts are written in dollars with thousands separators and two decimals", () => {
    expect(formatUsd(123456)).toBe("$1,234.56");
    expect(formatUsd(0)).toBe("$0.00");
    expect(formatUsd(5)).toBe("$0.05");
    expect(formatUsd(-123456789)).toBe("-$1,234,567.89");
    expect(formatUsd(100000)).toBe("$1,000.00");
  });

  test.prop([cents])("a written amount reads back to the same number of cents", (amount) => {
    expect(Number(formatUsd(amount).replace(/[$,.]/g, ""))).toBe(amount === 0 ? 0 : amount);
  });

  test.prop([fc.array(cents)])("amounts have the same sum in any order", (amounts) => {
    expect(sumCents(amounts)).toBe(sumCents([...amounts].reverse()));
  });

  it("a sum that a number can't express is the greatest that it can", () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(sumCents([most, 1, 2])).toBe(most);
    expect(formatUsd(most + 2)).toBe(formatUsd(most));
  });

  it("fractions of a cent are refused", () => {
    expect(() => formatUsd(1.5)).toThrow(RangeError);
    expect(() => sumCents([0.1])).toThrow(RangeError);
  });
});
