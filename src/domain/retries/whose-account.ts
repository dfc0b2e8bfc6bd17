import { classifyFailure, wordsOf } from "../payments/failure-policy.ts";

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

const EITHER_SIDE: readonly string[] = ["R02", "R03", "R04"];

/**
 * Says whose bank account a failure concerns. R01 and R09 concern the payer's. R02, R03 and R04 may
 * concern either: the funding source, the reason's text and the day's other payments decide.
 */
export function whoseAccount(facts: AccountFacts): "payer" | "payee" | "unknown" {
  const { code, failureReason } = facts;
  if (code === "R01" || code === "R09") return "payer";
  if (code === null || !EITHER_SIDE.includes(code)) return classifyFailure(failureReason).whose;
  // The service's balance pays by credit, so no account of ours is debited.
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
