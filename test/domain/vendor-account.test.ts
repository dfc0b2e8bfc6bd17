import { expect, test } from "vitest";
import { accountText } from "../../src/domain/vendor-account.ts";

test.each([
  ["6789", "••6789"],
  [null, "none"],
  [undefined, "none"],
])("a vendor's account with the last digits %s is called %s", (last4, text) => {
  expect(accountText(last4)).toBe(text);
});
