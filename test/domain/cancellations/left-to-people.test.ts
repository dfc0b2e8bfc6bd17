import { expect, test } from "vitest";
import { judgeForCancel } from "../../../src/domain/cancellations/judge-payment.ts";
import { leftToPeople } from "../../../src/domain/cancellations/left-to-people.ts";

type Item = Parameters<typeof leftToPeople>[0][number];

/** A payment as a cancel finds it that comes at 8:57 New York on the payment's date. */
function found(status: string, amountCents = 100_00): Item {
  const payment = { status, scheduledAt: "2026-07-15T13:00:00.000Z", failureReason: "R02 closed" };
  const businessMs = Date.parse("2026-07-15T12:57:00Z");
  const severalScheduled = status === "several";
  const verdict = judgeForCancel(
    { ...payment, status: severalScheduled ? "scheduled" : status },
    { severalScheduled, businessMs, scale: 1 },
  );
  if (verdict.kind !== "ended") throw new Error(`${status} is not at its end`);
  return { paymentId: "pay_1", amountCents, state: verdict.state, reason: verdict.reason };
}

test.each([
  [
    "processing",
    "Already with the bank, so the money arrives at the vendor. To have the money back",
  ],
  [
    "completed",
    "Already settled, so the vendor has the money. To have the money back, ask the vendor",
  ],
  [
    "scheduled",
    "Too close to 9:00 New York on its date to be cancelled safely, so the money arrives",
  ],
  [
    "several",
    "the money goes out on its date. Ask whoever runs the service to stop it before then",
  ],
  ["failed", "Already failed (R02 closed), so there was nothing to cancel."],
])(
  "a payment that a cancel finds %s is said to be left to a person, with what can be done",
  (status, said) => {
    const text = leftToPeople([found(status)]) ?? "";
    expect(text).toMatch(/^a person, about 1 payment of \$100\.00: /);
    expect(text).toContain(said);
  },
);

test("payments of one cause are told once, with their sum, and what was cancelled not at all", () => {
  const items = [found("processing"), found("processing", 50_00), found("cancelled")];
  expect(leftToPeople([...items, found("completed", 7_00)])).toBe(
    "a person, about 2 payments of $150.00: Already with the bank, so the money arrives at the vendor. To have the money back, ask the vendor to return it. And 1 payment of $7.00: Already settled, so the vendor has the money. To have the money back, ask the vendor to return it.",
  );
  expect(leftToPeople([found("cancelled"), found("refunded")])).toBeNull();
});

test("of many causes the first three are told, and the payments of all others counted", () => {
  const unknown = (reason: string): Item => ({ ...found("processing"), state: "unknown", reason });
  const text = leftToPeople(["One.", "Two.", "Three.", "Four.", "Five."].map(unknown));
  expect(text).toMatch(/\$100\.00: Three\. And 2 more of \$200\.00\.$/);
});

test("a bill that could not be withheld is called a bill", () => {
  const bill = { paymentId: null, amountCents: 9_00, state: "too-late", reason: "Sent." } as const;
  expect(leftToPeople([bill])).toBe("a person, about 1 bill of $9.00: Sent.");
});
