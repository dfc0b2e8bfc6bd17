import type { BankReturnCode } from "../../contracts/reason-codes.ts";
import type { FailureRule, RetryFailedPlaybook } from "../../contracts/playbook.ts";
import { classifyFailure, codesIn, failureWords } from "../payments/failure-policy.ts";
import {
  debitRefusedBy,
  isBankReturnCode,
  isReinitiable,
  REINITIATIONS_MAX,
} from "../payments/return-codes.ts";

/** Name of the playbook that handles failures if none is stored under it. */
export const BUILT_IN_FAILURES = "retry-failed";

/** The rule for failures that a playbook has no rule for. */
const ASK_OPERATOR: FailureRule = {
  codes: [],
  words: [],
  action: "ask",
  pause: false,
  payAgain: false,
  when: null,
  atMost: 0,
  by: ["operator"],
};

/** The rules of a stored playbook that names none: nothing is retried before a person decides. */
export const BUILT_IN_RULES: readonly FailureRule[] = [
  {
    codes: ["R01", "R09"],
    words: [],
    action: "retry",
    pause: true,
    payAgain: false,
    when: "when-released",
    atMost: REINITIATIONS_MAX,
    by: ["controller"],
  },
  {
    codes: ["R02", "R03", "R04", "R12", "R13"],
    words: [],
    action: "hold-vendor",
    pause: false,
    payAgain: true,
    when: null,
    atMost: 0,
    by: ["controller"],
  },
  ASK_OPERATOR,
];

/** When a failed bill is given up by default, and which roles are then notified. */
export const GIVE_UP = { afterDays: 30, tell: ["controller"] } as const;

/** This many vendors with bounced payments on one day mean that the account itself is empty. */
const ACCOUNT_IS_EMPTY_FROM = 3;

/**
 * Returns the policy that applies while no playbook is stored under the name: a bounce is retried
 * on the next banking day, at most twice, and a person is asked about every other failure. If
 * payments to three vendors bounce on one day, the account is put on hold and a person is asked once.
 *
 * @param otherVendorsFailed other vendors whose payments of the same day and account failed in the
 * same way
 */
export function unattendedFailures(name: string, otherVendorsFailed: number): RetryFailedPlaybook {
  const [pausing] = BUILT_IN_RULES;
  const isEmpty = otherVendorsFailed + 1 >= ACCOUNT_IS_EMPTY_FROM;
  const bounce: FailureRule = {
    ...(pausing ?? ASK_OPERATOR),
    ...(isEmpty ? {} : { pause: false, when: "next-business-day", by: ["operator"] }),
  };
  return {
    kind: "retry-failed",
    name,
    business: null,
    schedule: null,
    rules: [bounce, ASK_OPERATOR],
    giveUpAfterDays: GIVE_UP.afterDays,
    giveUpNotify: GIVE_UP.tell,
  };
}

/** A failure and its rule. */
export interface RuledFailure {
  /** The return code that it counts as, or null. */
  readonly code: BankReturnCode | null;
  readonly rule: FailureRule;
}

/**
 * Finds the first rule that matches a failure, by return code or by words.
 *
 * A rule never overrides the bank: a person is asked about a return code that Nacha doesn't allow
 * to be reinitiated, regardless of the words beside it.
 */
export function failureRuleFor(
  rules: readonly FailureRule[],
  failureReason: string | null | undefined,
): RuledFailure {
  const text = failureWords(failureReason ?? "").toLowerCase();
  const { code } = classifyFailure(failureReason);
  const found = rules.find((rule) => matches(rule, code, text)) ?? ASK_OPERATOR;
  if (found.action === "retry" && code !== null && !isReinitiable(code)) {
    return { code, rule: ASK_OPERATOR };
  }
  if (found.action === "retry" && code === null && codesIn(text).length > 0) {
    return { code, rule: ASK_OPERATOR };
  }
  // The author's own words for a bounce count as a bounce.
  const bounced = found.action === "retry" && code === null;
  return {
    code: bounced ? (found.codes.filter(isBankReturnCode).find(isReinitiable) ?? "R01") : code,
    rule: found,
  };
}

/** The failure that decides about a bill. */
export interface DecidingFailure {
  readonly ruled: RuledFailure;
  readonly failureReason: string | null;
}

/**
 * Finds the failure that decides: of a split that failed in several ways, one that says that our
 * account refuses debits, then the one whose rule allows least.
 *
 * @param sourceKind kind of the funding source: only a bank account is debited
 */
export function decidingFailure(
  rules: readonly FailureRule[],
  failures: readonly { readonly failureReason: string | null }[],
  sourceKind: string,
): DecidingFailure {
  const all = failures.map(({ failureReason }) => ({
    failureReason,
    ruled: failureRuleFor(rules, failureReason),
  }));
  const isDebited = sourceKind !== "balance";
  return (
    all.find(({ ruled }) => isDebited && debitRefusedBy(ruled.code) !== null) ??
    all.find(({ ruled }) => ruled.rule.action === "ask") ??
    all.find(({ ruled }) => ruled.rule.action === "hold-vendor") ??
    all[0] ?? { failureReason: null, ruled: failureRuleFor(rules, null) }
  );
}

function matches(rule: FailureRule, code: string | null, text: string): boolean {
  if (rule.codes.length === 0 && rule.words.length === 0) return true;
  if (code !== null && rule.codes.includes(code)) return true;
  return rule.words.some((word) => hasWords(text, failureWords(word).toLowerCase()));
}

function hasWords(text: string, words: string): boolean {
  const at = text.indexOf(words);
  if (at < 0) return false;
  const isWord = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  return !isWord(text[at - 1]) && !isWord(text[at + words.length]);
}
