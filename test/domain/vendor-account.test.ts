import { expect, test } from "vitest";
import { accountText, differing, isChanged, recordOf } from "../../src/domain/vendor-account.ts";

test.each([
  ["6789", "••6789"],
  [null, "none"],
  [undefined, "none"],
])("a vendor's account with the last digits %s is called %s", (last4, text) => {
  expect(accountText(last4)).toBe(text);
});

test("a vendor's record is unchanged if only the notation of its instant differs", () => {
  const changed = (before: string | null, now: string | null): boolean =>
    isChanged({ updatedAt: before, shown: [] }, { updatedAt: now, shown: [] });
  expect(changed("2026-11-20T09:00:00Z", "2026-11-20T10:00:00.000+01:00")).toBe(false);
  expect(changed(null, null)).toBe(false);
  expect(changed("lately", "lately")).toBe(false);
  for (const now of ["2026-11-20T09:00:01Z", "lately", null]) {
    expect(changed("2026-11-20T09:00:00Z", now)).toBe(true);
  }
  expect(changed("lately", "just now")).toBe(true);
});

test("a changed record names the shown fields that differ, whatever their values are", () => {
  const vendor = {
    ...{
      displayName: "Alder",
      emails: ["a@example.com"],
      phone: null,
      paymentDirection: "can_pay",
    },
    ...{ netTerms: 30, taxInfo: null, status: "active", type: "payee", updatedAt: null },
  };
  const differ = (changes: object): string =>
    differing(recordOf(vendor), recordOf({ ...vendor, ...changes }));
  expect(differ({})).toBe("none of the fields that the service shows differs");
  expect(differ({ phone: "+1 212 555 0100" })).toBe("phone differs");
  expect(differ({ emails: [], taxInfo: { taxIdMask: "1234" } })).toBe("emails, taxInfo differ");
});
