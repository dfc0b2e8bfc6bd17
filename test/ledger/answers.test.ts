import { expect, it } from "vitest";
import { judgeAnswer } from "../../src/ledger/answers.ts";
import { pay } from "../../src/ledger/operations.ts";
import { TERMS } from "./facts.ts";

function answered(status: number, error: string) {
  const body = { error, message: "no" };
  return judgeAnswer(pay, { kind: "http", status, body }, { terms: TERMS, baseline: [] });
}

it.each([
  ["payment_in_progress", "in-progress"],
  ["insufficient_balance", "business-wait"],
  ["payments_locked", "business-wait"],
  ["approval_required", "line-wait"],
] as const)(
  "the error %s closes a send with a 4xx, but not with a 5xx, which may have paid",
  (code, means) => {
    for (const status of [400, 403, 409, 422]) {
      expect(answered(status, code)).toMatchObject({
        result: "refused",
        code,
        means: { kind: means },
      });
    }
    for (const status of [500, 503]) {
      expect(answered(status, code)).toMatchObject({
        result: "unknown",
        code,
        means: { kind: means },
      });
    }
  },
);
