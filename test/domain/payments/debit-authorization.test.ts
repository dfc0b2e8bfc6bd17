import { expect, it } from "vitest";
import { whyNoDebit } from "../../../src/domain/payments/debit-authorization.ts";

const RETURNED_MS = Date.parse("2026-12-04T14:30:00Z");

it("an accepted authorization lets debits through until a return revokes it", () => {
  expect(whyNoDebit("2026-01-05", null)).toBeNull();
  expect(whyNoDebit(undefined, null)).toMatch(/No person has accepted/);
  expect(whyNoDebit("2026-01-05", RETURNED_MS)).toMatch(/2026-12-04T14:30:00\.000Z/);
});

it.each([
  ["2026-12-04", false],
  ["2026-12-05", true],
  ["2026-12-04T14:30:00Z", false],
  ["2026-12-04T09:30:01-05:00", true],
])("an authorization accepted at %s is later than the return: %s", (acceptedAt, isLater) => {
  expect(whyNoDebit(acceptedAt, RETURNED_MS) === null).toBe(isLater);
});
