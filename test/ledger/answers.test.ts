import { expect, it } from "vitest";
import { type Answer, judgeAnswer } from "../../src/ledger/answers.ts";
import { pay } from "../../src/ledger/operations.ts";
import { TERMS } from "./facts.ts";

function judge(answer: Answer, baseline: readonly string[] = []) {
  return judgeAnswer(pay, answer, { terms: TERMS, baseline });
}

function answered(status: number, error: string) {
  return judge({ kind: "http", status, body: { error, message: "no" } });
}

it.each([
  ["payment_in_progress", "request"],
  ["insufficient_balance", "source"],
  ["payments_locked", "business"],
  ["setup_required", "business"],
  ["setup_incomplete", "business"],
  ["feature_unavailable", "business"],
  ["approval_required", "line"],
  ["contact_not_payable", "line"],
] as const)(
  "the error %s lets what it names wait, and closes a send with a 4xx, but not with a 5xx, which may have paid",
  (code, of) => {
    for (const status of [400, 403, 409, 422]) {
      expect(answered(status, code)).toMatchObject({
        result: "refused",
        code,
        said: { kind: "later", of, code },
      });
    }
    for (const status of [500, 503]) {
      expect(answered(status, code)).toMatchObject({
        result: "unknown",
        code,
        said: { kind: "later", of, code },
      });
    }
  },
);

it.each(["validation_error", "not_found", "payment_not_cancellable"])(
  "the error %s, which the service stores, is final for its key with a 4xx and says nothing with a 5xx",
  (code) => {
    for (const status of [400, 404, 422]) {
      const details = { field: "scheduledAt" };
      const body = { error: code, message: "no", details };
      expect(judge({ kind: "http", status, body })).toMatchObject({
        ...{ result: "rejected", status, code, message: "no" },
        said: { kind: "refused", code, field: "scheduledAt", message: "no" },
      });
    }
    for (const status of [408, 500, 503]) {
      expect(answered(status, code)).toMatchObject({ result: "unknown", code, message: "no" });
    }
  },
);

it("a code that the specification doesn't name leaves a send open at any status that isn't about the caller", () => {
  for (const status of [400, 402, 408, 409, 422, 500, 503]) {
    expect(answered(status, "brand_new")).toMatchObject({ result: "unknown", code: "brand_new" });
    expect(judge({ kind: "http", status, body: "<html>" })).toMatchObject({
      ...{ result: "unknown", code: null },
    });
    // A proxy's words are no code of the service.
    expect(answered(status, "Not Found")).toMatchObject({ result: "unknown", code: null });
  }
});

it.each([
  [401, { code: "unauthorized", waitMs: null }],
  [
    403,
    { code: "forbidden", waitMs: null, reason: expect.stringMatching(/payments:initiate.*no/) },
  ],
  [429, { code: "rate_limited", waitMs: 2_000 }],
] as const)(
  "a %i without a known code refuses a request before anything was done, and lets the business wait",
  (status, why) => {
    const said = { kind: "later", of: "business", ...why };
    const refused = { result: "refused", status, code: null, madeIds: [], said };
    expect(answered(status, "brand_new")).toMatchObject(refused);
    expect(judge({ kind: "http", status, body: { message: "no" } })).toMatchObject(refused);
  },
);

it("after a 429 a send waits as long as the service says, and never a negative time", () => {
  for (const [retryAfterMs, waitMs] of [
    [90_000, 90_000],
    [0, 0],
    [-5, 0],
  ] as const) {
    const { said } = judge({ kind: "http", status: 429, body: undefined, retryAfterMs });
    expect(said).toMatchObject({ code: "rate_limited", waitMs });
  }
});

it("an unconfirmed payment, and a key that is taken, are what they are at any status", () => {
  for (const status of [409, 500]) {
    expect(answered(status, "payment_unconfirmed")).toMatchObject({ result: "unconfirmed" });
    expect(answered(status, "idempotency_conflict")).toMatchObject({ result: "conflict" });
  }
});

it("a request without a response may have taken effect, unless it never left", () => {
  const none = { status: null, code: null, answerDateMs: null, madeIds: [], message: "reset" };
  const lost = { kind: "no-answer", reason: "reset" } as const;
  expect(judge({ ...lost, sent: true })).toMatchObject({ ...none, result: "unknown" });
  expect(judge({ ...lost, sent: false })).toMatchObject({ ...none, result: "not-sent" });
});

it("neither a redirect nor a success of another shape says whether a request took effect", () => {
  for (const status of [100, 200, 201, 204, 301, 399]) {
    const body = { error: "validation_error", message: "no" };
    expect(judge({ kind: "http", status, body }), String(status)).toMatchObject({
      ...{ result: "unknown", code: null, madeIds: [] },
    });
  }
});

it("only a 2xx is a success, whatever a body says", () => {
  const body = { payments: [{ id: "p1", status: "scheduled", amountCents: 1_000 }] };
  const result = (status: number) => judge({ kind: "http", status, body }).result;
  expect([200, 201, 299].map(result)).toEqual(["applied", "applied", "applied"]);
  expect([199, 300, 404, 500].map(result)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
});

it("a success names what it made: the payments that weren't there before, or all if it is a replay", () => {
  const payments = ["p1", "p2"].map((id) => ({ id, status: "scheduled", amountCents: 500 }));
  const success = { kind: "http", status: 201, body: { payments }, headersDateMs: 7.9 } as const;
  const madeIds = (baseline: readonly string[]) => judge(success, baseline).madeIds;
  expect(madeIds([])).toEqual(["p1", "p2"]);
  expect(madeIds(["p1"])).toEqual(["p2"]);
  expect(madeIds(["p2", "p1"])).toEqual(["p1", "p2"]);
  expect(judge(success)).toMatchObject({ result: "applied", status: 201, answerDateMs: 7 });
});

it("of a long message the beginning is kept", () => {
  const body = { error: "validation_error", message: "x".repeat(501) };
  expect(judge({ kind: "http", status: 422, body }).message).toBe("x".repeat(500));
});
