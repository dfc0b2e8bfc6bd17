import { describe, expect, test } from "vitest";
import { BILL_WAYS, paidOnce, type PaidOnceFacts } from "../../../src/domain/payments/paid-once.ts";
import type { PaidOnceAttempt } from "../../../src/domain/payments/request-texts.ts";
import { rejectedText } from "../../../src/domain/payments/standing.ts";

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

describe("a bill that was paid once", () => {
  test("a bill with one request, one response and one completed payment is paid once", () => {
    expect(paidOnce(facts())).toEqual({
      verdict: "paid-once",
      way: "paid",
      sentences: [
        "Paid once, by payment pmt_1 of $100.00, all that was approved. Payrun made no other.",
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
    expect(text).toContain("It was paid again after back failed.");
  });
});

describe("a bill that is not known to be paid once", () => {
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

  test("a bill paid outside Payrun is said to be paid by someone else", () => {
    const { text } = told({ state: "paid-elsewhere", attempts: [], payments: [] });
    expect(text).toContain("found it paid by someone else: no request to pay it was ever sent");
    const others = [pmt("scheduled")];
    const meanwhile = told({ state: null, attempts: [], payments: [], others });
    expect(meanwhile.text).toContain("Not paid by Payrun, which found it being paid by someone");
  });
});

const pmt = (status: string, changes: Partial<PaidOnceFacts["payments"][number]> = {}) => ({
  ...{ id: "pmt_1", amountCents: 10_000, status },
  ...changes,
});
const twice = [attempt({ paymentIds: ["pmt_1"] }), attempt({ seq: 2, paymentIds: ["pmt_2"] })];
const bounced = pmt("failed", { failureReason: "R01" });
const NOT_SENT = { attempts: [], payments: [] } as const;

/** One bill for each way, with its verdict and its conclusion. */
const WAYS: Readonly<
  Record<(typeof BILL_WAYS)[number], readonly [Partial<PaidOnceFacts>, string, string]>
> = {
  "never-sent": [
    { ...NOT_SENT, state: "awaiting-approval" },
    "not-paid",
    "Not paid by Payrun: no request to pay it was ever sent. It waits for approval.",
  ],
  "left-out": [
    {
      ...NOT_SENT,
      state: null,
      leftOut: "Due 2026-12-01; this run takes bills due up to 2026-11-30.",
    },
    "not-paid",
    "Not paid by Payrun: no request to pay it was ever sent. No run has planned it. The last one left it out: Due 2026-12-01; this run takes bills due up to 2026-11-30.",
  ],
  "on-its-way": [
    { state: "scheduled", payments: [pmt("scheduled")] },
    "on-its-way",
    "On its way once, by payment pmt_1 of $100.00, all that was approved. Payrun made no other.",
  ],
  "held-by-service": [
    { state: "held", payments: [pmt("held")] },
    "on-its-way",
    "On its way once, by payment pmt_1 of $100.00, all that was approved. The service holds it for review. Payrun made no other.",
  ],
  paid: [
    {},
    "paid-once",
    "Paid once, by payment pmt_1 of $100.00, all that was approved. Payrun made no other.",
  ],
  "paid-in-parts": [
    {
      attempts: [attempt({ paymentIds: ["pmt_1", "pmt_2"] })],
      payments: [
        pmt("completed", { amountCents: 4_000 }),
        pmt("completed", { id: "pmt_2", amountCents: 6_000 }),
      ],
    },
    "paid-once",
    "Paid once, by 2 payments (pmt_1, pmt_2) of $100.00, all that was approved. Payrun made no other.",
  ],
  "paid-again": [
    { attempts: twice, payments: [bounced, pmt("completed", { id: "pmt_2" })] },
    "paid-once",
    "Paid once, by payment pmt_2 of $100.00, all that was approved. It was paid again after pmt_1 failed (R01).",
  ],
  "partly-paid": [
    {
      attempts: [attempt({ paymentIds: ["pmt_1", "pmt_2"] })],
      payments: [
        pmt("completed", { amountCents: 4_000 }),
        pmt("cancelled", { id: "pmt_2", amountCents: 6_000 }),
      ],
    },
    "partly-paid",
    "Only a part: payment pmt_1 of $40.00 of $100.00 that were approved. pmt_2 was cancelled.",
  ],
  "too-much": [
    { attempts: twice, payments: [pmt("completed"), pmt("scheduled", { id: "pmt_2" })] },
    "too-much",
    "Too much: 2 payments (pmt_1, pmt_2) of $200.00 for $100.00 that were approved.",
  ],
  "paid-elsewhere": [
    {
      ...NOT_SENT,
      state: "paid-elsewhere",
      totalCents: 10_000,
      others: [pmt("completed", { id: "theirs" })],
    },
    "not-paid",
    "Not paid by Payrun, which found it paid by someone else: no request to pay it was ever sent. Outside Payrun it has payment theirs of $100.00.",
  ],
  failed: [
    { state: "retrying", reason: "It is paid again on 2026-11-30", payments: [bounced] },
    "not-paid",
    "Not paid: The payment that was made ended failed: pmt_1 failed (R01). It is to be tried again: It is paid again on 2026-11-30.",
  ],
  returned: [
    {
      state: "parked",
      reason: "R02: the account is closed.",
      payments: [pmt("returned", { failureReason: "R02" })],
    },
    "not-paid",
    "Not paid: The payment that was made ended returned: pmt_1 was returned (R02). It waits for a person: R02: the account is closed.",
  ],
  "returned-late": [
    { state: "returned", payments: [pmt("returned", { failureReason: "R03", hadSettled: true })] },
    "not-paid",
    "Not paid: The payment that was made ended returned: pmt_1 was returned (R03) after it had settled.",
  ],
  cancelled: [
    { state: "cancelled", payments: [pmt("cancelled")] },
    "not-paid",
    "Not paid: The payment that was made ended cancelled: pmt_1 was cancelled.",
  ],
  "refund-pending": [
    { state: "held", payments: [pmt("refund_pending")] },
    "not-paid",
    "Not paid: The payment that was made ended refund_pending: pmt_1 was cancelled, and its money is on its way back.",
  ],
  refunded: [
    { state: "refunded", payments: [pmt("refunded")] },
    "not-paid",
    "Not paid: The payment that was made ended refunded: pmt_1 was refunded.",
  ],
  unknown: [
    {
      state: "unknown",
      attempts: [attempt({ state: "open", answer: null, paymentIds: [] })],
      payments: [],
    },
    "unknown",
    "It is not known yet whether request 1 has paid; until it is, only the same request under the same key, or a lookup, can follow.",
  ],
};

test.each(BILL_WAYS)(
  "a bill that went the way %s is described in one sentence that is true",
  (way) => {
    const [changes, verdict, conclusion] = WAYS[way];
    const told = paidOnce(facts(changes));
    expect({ way: told.way, verdict: told.verdict }).toEqual({ way, verdict });
    expect(told.sentences[0]).toBe(conclusion);
  },
);

const conclusionOf = (changes: Partial<PaidOnceFacts>) => paidOnce(facts(changes)).sentences[0];

describe("a bill for which nothing was sent", () => {
  test.each([
    [
      { state: "cancelled", reasonCode: "dropped", reason: "Left out by olga." },
      "It was taken out of its run: Left out by olga.",
    ],
    [
      { state: "cancelled", reasonCode: "run_cancelled" },
      "Its run was cancelled before it was sent.",
    ],
    [{ state: "cancelled", reasonCode: "rejected" }, "Its run was rejected."],
    [
      {
        state: "cancelled",
        reasonCode: "rejected",
        reason: rejectedText({ principal: "cora", comment: "wrong week" }),
      },
      "Its run was rejected by cora: wrong week.",
    ],
    [{ state: "on-hold", reason: "Check the invoice" }, "It is on hold: Check the invoice."],
    [
      { state: "parked", reason: "Nobody approved it in time. The next run asks again." },
      "It waits for a person: Nobody approved it in time. The next run asks again.",
    ],
    [{ state: "planned" }, "It is approved and has not been sent yet."],
    [
      { state: "given-up", reason: "Disputed", resolvedBy: "cora" },
      "cora has given it up: Disputed.",
    ],
    [
      { state: "given-up", reason: "Nobody acted on it for 30 days: R01" },
      "It was given up: Nobody acted on it for 30 days: R01.",
    ],
    [{ state: null }, "No run has planned it."],
  ] as const)("the conclusion about a bill that is %j ends: %s", (standing, said) => {
    expect(conclusionOf({ ...NOT_SENT, ...standing })).toBe(
      `Not paid by Payrun: no request to pay it was ever sent. ${said}`,
    );
  });
});

describe("what is not said about a bill", () => {
  const both = { attempts: twice, payments: [pmt("completed"), pmt("completed", { id: "pmt_2" })] };

  test("no alarm is raised about too much money while the service doesn't answer", () => {
    const told = paidOnce(facts({ ...both, serviceAnswered: false }));
    expect(told).toMatchObject({ verdict: "unknown", way: "unknown" });
    expect(told.sentences[0]).toBe(
      "It is not known whether too much was paid: Payrun last saw 2 payments (pmt_1, pmt_2) of $200.00 for $100.00 that were approved.",
    );
  });

  test("two runs that each pay a part of a bill don't pay too much", () => {
    const lines = [
      { amountCents: 10_000, paymentIds: ["pmt_1"] },
      { amountCents: 10_000, paymentIds: ["pmt_2"] },
    ];
    expect(paidOnce(facts({ ...both, lines, totalCents: 20_000 })).verdict).toBe("paid-once");
  });

  test("a restored store without a record of a payment doesn't say that nothing was ever sent", () => {
    const others = [pmt("cancelled", { id: "pmt_lost", mayBeOurs: true })];
    const said = conclusionOf({ attempts: [], payments: [], others, state: "on-hold" });
    expect(said).toMatch(
      /^Not paid by Payrun: this store, which was restored, has no record of a request to pay it\. Not on record here: pmt_lost was cancelled\./,
    );
  });

  test("a payment without a record counts as on its way until the bank has made it", () => {
    const said = (status: string): string | undefined => {
      const others = [pmt(status, { id: "pmt_lost", mayBeOurs: true })];
      return conclusionOf({ attempts: [], payments: [], others, state: "on-hold" });
    };
    expect(said("scheduled")).toMatch(/^On its way by a payment that this store has no record of/);
    expect(said("completed")).toMatch(/^Paid by a payment that this store has no record of/);
  });

  test("a payment outside Payrun raises an alarm only if both together are more than the whole bill", () => {
    const others = [pmt("completed", { id: "theirs", amountCents: 5_000 })];
    expect(conclusionOf({ others, totalCents: 15_000 })).toBe(
      "Paid once, by payment pmt_1 of $100.00, all that was approved. Payrun made no other. Outside Payrun it has payment theirs of $50.00.",
    );
    expect(conclusionOf({ others, totalCents: 14_999 })).toBe(
      "Too much: payment pmt_1 of $100.00, and outside Payrun payment theirs of $50.00, for a bill of $149.99.",
    );
  });

  test("a bill that a person called paid elsewhere is not said to have been found paid", () => {
    expect(conclusionOf({ ...NOT_SENT, state: "paid-elsewhere", resolvedBy: "cora" })).toBe(
      "Not paid by Payrun: no request to pay it was ever sent. cora said that it was paid elsewhere.",
    );
  });

  test("a bill is not said to be paid if its payment by someone else failed afterwards", () => {
    const others = [pmt("failed", { id: "theirs", failureReason: "R01" })];
    expect(conclusionOf({ ...NOT_SENT, state: "paid-elsewhere", others })).toBe(
      "Not paid: Payrun found it paid by someone else, but theirs failed (R01); and no request to pay it was ever sent.",
    );
  });

  test("a later payment that was cancelled doesn't count the bill as paid again", () => {
    const payments = [pmt("completed"), pmt("cancelled", { id: "pmt_2" })];
    expect(paidOnce(facts({ attempts: twice, payments }))).toMatchObject({ way: "paid" });
    expect(conclusionOf({ attempts: twice, payments })).not.toContain("again");
  });
});
