import { expect, test } from "vitest";
import { changeOfSubject, type ShownSubject } from "../../../src/domain/events/shown-change.ts";
import { recordOf } from "../../../src/domain/vendor-account.ts";

const CONTACT = {
  ...{ displayName: "One", emails: [], phone: null, paymentDirection: null, netTerms: null },
  ...{ taxInfo: null, status: "active", type: "payee", paymentReady: true },
  ...{ bankAccount: { last4: "1111" }, updatedAt: "2026-11-02T12:00:00Z" },
};
const BILL = {
  ...{ totalAmountCents: 10_000, amountPaidCents: 0, paymentStatus: "none", status: "approved" },
  contact: { id: "v1" },
};
const PLAN = {
  ...{ totalCents: 10_000, contactId: "v1", bankLast4: "1111", record: recordOf(CONTACT) },
};

function vendor(changes: Partial<typeof CONTACT> = {}): ShownSubject {
  return { kind: "vendor", vendor: { ...CONTACT, ...changes } };
}

function bill(changes: Partial<typeof BILL> = {}): ShownSubject {
  return { kind: "bill", bill: { ...BILL, ...changes } };
}

test("a bill or a vendor that the service shows as it was planned has not changed", () => {
  for (const shown of [vendor(), bill()]) {
    expect(changeOfSubject(shown, { plan: PLAN })).toBeNull();
    expect(changeOfSubject(shown, { plan: PLAN, madeAt: "2026-11-03T12:00:00Z" })).toBeNull();
    expect(changeOfSubject(shown, { madeAt: "2026-11-03T12:00:00Z" })).toBeNull();
  }
  const never = vendor({ updatedAt: null as unknown as string });
  expect(changeOfSubject(never, { madeAt: null })).toBeNull();
});

test.each([
  [bill({ status: "declined" }), "its status is declined now"],
  [bill({ status: "unreadable" }), "its status is unreadable now"],
  [{ kind: "bill", bill: null } as const, "the service doesn't show it any more"],
  [vendor({ status: "archived" }), "its status is archived now"],
  [{ kind: "vendor", vendor: null } as const, "the service doesn't show it any more"],
])("what is not in order any more has changed, whatever is known of it", (shown, text) => {
  for (const known of [{ plan: PLAN }, { madeAt: "2026-11-03T12:00:00Z" }, {}]) {
    expect(changeOfSubject(shown, known)).toBe(text);
  }
});

test.each([
  [bill({ totalAmountCents: 20_000 }), "its amount changed from $100.00 to $200.00"],
  [bill({ contact: { id: "v2" } }), "it belongs to another vendor now"],
  [
    vendor({ bankAccount: { last4: "2222" } }),
    "the vendor's bank account changed from ••1111 to ••2222",
  ],
  [
    vendor({ updatedAt: "2026-11-04T12:00:00Z", phone: "1" as unknown as null }),
    "its record was changed: phone differs",
  ],
])("what differs from its line's plan has changed", (shown, text) => {
  expect(changeOfSubject(shown, { plan: PLAN })).toBe(text);
});

test.each(["2026-11-02T11:59:59Z", "2026-11-02T12:00:00Z", null, "soon"])(
  "a vendor's record that was not certainly changed before a payment was made at %s has changed",
  (madeAt) => {
    const text = "its record was changed after the payment was made";
    expect(changeOfSubject(vendor(), { madeAt })).toBe(text);
  },
);
