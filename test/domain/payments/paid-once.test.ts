import { describe, expect, test } from "vitest";
import {
  paidOnce,
  type PaidOnceAttempt,
  type PaidOnceFacts,
} from "../../../src/domain/payments/paid-once.ts";

const attempt = (changes: Partial<PaidOnceAttempt> = {}): PaidOnceAttempt => ({
  seq: 1,
  state: "applied",
  amountCents: 10_000,
  answer: "2xx",
  sends: [{ result: "applied" }],
  paymentIds: ["pmt_1"],
  lookUps: [],
  ...changes,
});

const facts = (changes: Partial<PaidOnceFacts> = {}): PaidOnceFacts => ({
  state: "settled",
  amountCents: 10_000,
  attempts: [attempt()],
  payments: [{ id: "pmt_1", amountCents: 10_000, status: "completed" }],
  ...changes,
});

const told = (changes: Partial<PaidOnceFacts>) => {
  const { verdict, sentences } = paidOnce(facts(changes));
  return { verdict, text: sentences.join("\n") };
};

describe("how it is known that a bill was paid once", () => {
  test("a bill with one request, one response and one completed payment is paid once", () => {
    expect(paidOnce(facts())).toEqual({
      verdict: "paid-once",
      sentences: [
        "Paid once, by payment (pmt_1) of $100.00, all that was approved. Payrun made no other.",
        "Request 1 for $100.00 was sent once, and the response named pmt_1 (completed).",
      ],
    });
  });

  test("a bill is paid once if a lookup found the payment of a lost response", () => {
    const sends = [{ result: "unknown" }, { result: "unknown" }] as const;
    const lost = attempt({ answer: "found by lookup", sends });
    const { verdict, text } = told({ attempts: [lost] });
    expect(verdict).toBe("paid-once");
    expect(text).toContain("was sent 2 times, each time under the same key");
    expect(text).toContain("a lookup found pmt_1 (completed), not there before");
  });

  test("a bill is paid once after an unconfirmed key, a conclusive lookup and the next key", () => {
    const dead = attempt({
      state: "dead",
      answer: null,
      sends: [{ result: "unconfirmed", code: "payment_unconfirmed" }],
      paymentIds: [],
      lookUps: [{ verdict: "none", isConclusive: true }],
    });
    const { verdict, text } = told({ attempts: [dead, attempt({ seq: 2 })] });
    expect(verdict).toBe("paid-once");
    expect(text).toContain("Request 1 for $100.00 was sent once; the service could not say");
    expect(text).toContain("A lookup made after its window found no payment of it.");
    expect(text).toContain("Request 2 for $100.00 was sent once, and the response named pmt_1");
  });

  test("a bill is paid once by a split, or after a returned payment", () => {
    const { verdict, text } = told({
      attempts: [attempt({ paymentIds: ["back"] }), attempt({ seq: 2, paymentIds: ["a", "b"] })],
      payments: [
        { id: "back", amountCents: 10_000, status: "failed" },
        { id: "a", amountCents: 6_000, status: "completed" },
        { id: "b", amountCents: 4_000, status: "completed" },
      ],
    });
    expect(verdict).toBe("paid-once");
    expect(text).toContain("2 payments (a, b) of $100.00");
    expect(text).toContain("The other one ended unpaid.");
  });
});

describe("what is not known to be paid once", () => {
  test.each([
    ["on-its-way", { payments: [{ id: "pmt_1", amountCents: 10_000, status: "scheduled" }] }],
    ["on-its-way", { payments: [{ id: "pmt_1", amountCents: 10_000, status: "new_status" }] }],
    ["too-much", { payments: [{ id: "pmt_1", amountCents: 10_001, status: "completed" }] }],
    ["partly-paid", { payments: [{ id: "pmt_1", amountCents: 9_999, status: "completed" }] }],
    ["not-paid", { payments: [{ id: "pmt_1", amountCents: 10_000, status: "cancelled" }] }],
    ["not-paid", { attempts: [], payments: [], state: "on-hold" }],
  ] as const)("a bill that is not known to be paid once is called %s", (verdict, changes) => {
    expect(told(changes).verdict).toBe(verdict);
  });

  test("a bill with a missing response is never called paid, whatever else is known", () => {
    const open = attempt({ seq: 2, state: "open", sends: [{ result: "pending" }], paymentIds: [] });
    const { verdict, text } = told({ attempts: [attempt(), open] });
    expect(verdict).toBe("unknown");
    expect(text).toContain("It is not known yet whether request 2 has paid");
  });

  test("a bill paid outside Payrun is said to be paid by somebody else", () => {
    const { text } = told({ state: "paid-elsewhere", attempts: [], payments: [] });
    expect(text).toContain("found it paid by somebody else: no request to pay it was ever sent");
  });
});
