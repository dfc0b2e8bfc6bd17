import { classifyFailure, failureWords } from "../payments/failure-policy.ts";
import { debitRefusedBy, isReinitiable, RETURN_CODES } from "../payments/return-codes.ts";

/** Facts that show whose account a return concerns, from payments of the same day. */
export interface AccountFacts {
  readonly code: string | null;
  readonly failureReason: string | null;
  /** Kind of the funding source: only a bank account is debited. */
  readonly sourceKind: string;
  /**
   * Other bills paid from the same account on the same day whose money is on its way or has
   * arrived.
   */
  readonly othersThrough: number;
  /**
   * Other vendors paid from the same account on the same day whose payments came back with the same
   * code.
   */
  readonly otherVendorsFailed: number;
}

/**
 * Says whose bank account a failure concerns, by the table of return codes. A refused debit
 * concerns no account if the payment came from the balance, which debits none. If the code may
 * concern either side, the funding source, the reason's text and the day's other payments decide.
 */
export function whoseAccount(facts: AccountFacts): "payer" | "payee" | "unknown" {
  const { code, failureReason, sourceKind } = facts;
  if (isReinitiable(code)) return "payer";
  const said =
    (code === null ? undefined : RETURN_CODES[code]?.whose) ?? classifyFailure(failureReason).whose;
  const isDebited = sourceKind !== "balance";
  if (said !== "either") return debitRefusedBy(code) === null || isDebited ? said : "unknown";
  if (!isDebited) return "payee";
  const named = sideInText(failureWords(failureReason ?? ""));
  if (named !== null) return named;
  if (facts.othersThrough > 0) return "payee";
  return facts.otherVendorsFailed > 0 ? "payer" : "unknown";
}

function sideInText(text: string): "payer" | "payee" | null {
  const ours = /\b(payer|payor|originator|funding (account|source)|debit(ed)?)\b/i.test(text);
  const theirs = /\b(payee|vendor|receiver|recipient|beneficiary|credit(ed)?)\b/i.test(text);
  if (ours === theirs) return null;
  return ours ? "payer" : "payee";
}
