import { classifyFailure, wordsOf } from "../payments/failure-policy.ts";

/** Which account a return may be about, as far as payments of the same day tell. */
export interface AccountFacts {
  readonly code: string | null;
  readonly failureReason: string | null;
  /** Kind of the funding source: only a bank account of the payer's is debited. */
  readonly sourceKind: string;
  /** Other bills of the same account and day whose money is on its way or has arrived. */
  readonly othersThrough: number;
  /** Other vendors of the same account and day that came back with the same code. */
  readonly otherVendorsFailed: number;
}

const EITHER_SIDE: readonly string[] = ["R02", "R03", "R04"];

/**
 * Whose bank account a failure is about. R01 and R09 are the payer's own; R02, R03 and R04 come
 * from either side and are decided from the rail, the rest of the day's payments and the text.
 */
export function whoseAccount(facts: AccountFacts): "payer" | "payee" | "unknown" {
  const { code, failureReason } = facts;
  if (code === "R01" || code === "R09") return "payer";
  if (code === null || !EITHER_SIDE.includes(code)) return classifyFailure(failureReason).whose;
  // The service's own balance pays by a credit: no account of ours is at the bank's other end.
  if (facts.sourceKind === "balance") return "payee";
  const said = sideInText(wordsOf(failureReason ?? ""));
  if (said !== null) return said;
  if (facts.othersThrough > 0) return "payee";
  return facts.otherVendorsFailed > 0 ? "payer" : "unknown";
}

function sideInText(text: string): "payer" | "payee" | null {
  const ours = /\b(payer|payor|originator|funding (account|source)|debit(ed)?)\b/i.test(text);
  const theirs = /\b(payee|vendor|receiver|recipient|beneficiary|credit(ed)?)\b/i.test(text);
  if (ours === theirs) return null;
  return ours ? "payer" : "payee";
}
