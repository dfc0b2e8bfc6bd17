import { expect, test } from "vitest";
import { definedOnly } from "../../src/contracts/defined-only.ts";

test("definedOnly leaves out what is undefined, and keeps null, zero and empty text", () => {
  const fields = definedOnly({ left: undefined, none: null, zero: 0, empty: "", flag: false });
  expect(Object.keys(fields)).toEqual(["none", "zero", "empty", "flag"]);
});

test("spreading the result of definedOnly replaces only what has a value", () => {
  const reason: string | undefined = undefined;
  expect({ reason: "kept", ...{ by: "old" }, ...definedOnly({ reason, by: "new" }) }).toEqual({
    reason: "kept",
    by: "new",
  });
});
