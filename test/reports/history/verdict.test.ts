import { describe, expect, test } from "vitest";
import { paidOnceOf } from "../../../src/reports/history/verdict.ts";
import type { AuditEntry } from "../../../src/store/audit/audit.ts";
import type { Hold } from "../../../src/store/holds/holds.ts";

const HOLD = {
  ...{ holdId: "hld_1", scope: "payable", value: "pbl_1", reason: "Wait for the call." },
  ...{ author: "otto", roles: [], releasedAtMs: null },
} as unknown as Hold;

function said(of: { cents?: number; trail?: readonly AuditEntry[] }): string {
  const { cents = 0, trail = [] } = of;
  const part = { amountCents: cents, status: "completed", failureReason: null, seenAt: null };
  const payments = cents === 0 ? [] : [{ id: "pmt_1", ...part, seq: 1, hadSettled: true }];
  const bill = {
    ...{ profile: { name: "acme" }, line: { state: "parked" }, plan: { amountCents: 10_000 } },
    ...{ places: [], attempts: [], trail, shown: undefined, payments, externalPayments: [] },
    ...{ givenBack: true, holds: [HOLD], leftOut: undefined },
  };
  return paidOnceOf(bill as unknown as Parameters<typeof paidOnceOf>[0]).sentences.join("\n");
}

describe("a bill that was given back", () => {
  test.each([0, 4_000])(
    "the verdict on a given-back bill says which hold applies to it, with %i cents paid",
    (cents) => {
      expect(said({ cents })).toContain(
        "A hold on this bill applies to it (otto: Wait for the call): payrun release hld_1",
      );
    },
  );

  test("the verdict on a given-back bill that is paid in full mentions no hold", () => {
    expect(said({ cents: 10_000 })).not.toContain("applies to it");
  });
});
