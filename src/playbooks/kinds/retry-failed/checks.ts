import { classifyFailure } from "../../../domain/payments/failure-policy.ts";
import { isMendedByNewDetails, isReinitiable } from "../../../domain/payments/return-codes.ts";
import { isRecord } from "../../../contracts/is-record.ts";
import { checkEvents } from "../../events.ts";
import type { Issue } from "../../source.ts";
import { type FailureRuleInput, failureRuleSchema } from "./schema.ts";

const ONLY_BOUNCES =
  "`retry` only for R01 and R09, and words that mean them; `ask` for everything else";

/**
 * Finds mistakes between values that are each valid alone: retries that Nacha's rules forbid, rules
 * that contradict themselves, rules that are never reached.
 */
export function checkRetryFailed(playbook: unknown): Issue[] {
  if (typeof playbook !== "object" || playbook === null) return [];
  return [
    ...checkRules("rules" in playbook ? playbook.rules : undefined),
    ...("events" in playbook ? checkEvents(playbook.events) : []),
  ];
}

function checkRules(written: unknown): Issue[] {
  if (!Array.isArray(written)) return [];
  const rules = written.map((rule: unknown) => failureRuleSchema.safeParse(rule).data);
  return rules.flatMap((rule, index): Issue[] => {
    if (rule === undefined) return [];
    const earlier = rules.slice(0, index).filter((other) => other !== undefined);
    return [
      ...checkActions(rule, isRecord(written[index]) ? written[index] : {}, index),
      ...checkNacha(rule, index),
      ...checkReached(rule, index, earlier),
    ];
  });
}

function issue(
  index: number,
  key: string | null,
  anchor: Issue["anchor"],
  message: string,
  expected: string,
): Issue {
  return {
    path: key === null ? ["rules", index] : ["rules", index, key],
    anchor,
    message,
    expected,
  };
}

/** `written` tells a key that the author has written from one that has its default. */
function checkActions(
  rule: FailureRuleInput,
  written: Readonly<Record<string, unknown>>,
  index: number,
): Issue[] {
  const issues: Issue[] = [];
  const said = (["retry", "hold", "ask"] as const).filter((key) => rule[key] !== undefined);
  const [first, second] = said;
  if (first === undefined) {
    issues.push(issue(index, null, "value", "this rule says nothing", "one of retry, hold, ask"));
  }
  if (first !== undefined && second !== undefined) {
    const message = `\`${second}\` and \`${first}\` exclude each other`;
    issues.push(issue(index, second, "key", message, "one of retry, hold, ask"));
  }
  if (rule.payAgain !== undefined && rule.hold === undefined) {
    const message = "`payAgain` without `hold` would pay other bills into the same account";
    issues.push(issue(index, "payAgain", "key", message, "`hold: vendor` beside it"));
  }
  if (rule.pause !== undefined && rule.hold !== undefined) {
    const message = "`pause` is for our own account, `hold` for the vendor";
    issues.push(issue(index, "pause", "key", message, "one of the two"));
  }
  if (rule.retry === "when-released" && rule.pause === undefined) {
    const message = "`when-released` waits for a release, and nothing is paused";
    issues.push(issue(index, "retry", "value", message, "`pause: funding-account` beside it"));
  }
  if (rule.pause !== undefined && rule.retry !== undefined && rule.retry !== "when-released") {
    const message = `\`retry: ${rule.retry}\` would pay from an account that is paused`;
    issues.push(issue(index, "retry", "value", message, "`retry: when-released`, or no `pause`"));
  }
  const callsBack = rule.onIncident === "cancel-scheduled";
  if (callsBack && rule.retry !== undefined && rule.pause === undefined) {
    const message = "`onIncident` is for an account on hold, and nothing is paused";
    const expected = "`pause: funding-account` beside it";
    issues.push(issue(index, "onIncident", "key", message, expected));
  }
  if ("atMost" in written && rule.retry === undefined) {
    const message = "`atMost` without `retry` limits nothing";
    issues.push(issue(index, "atMost", "key", message, "`retry` beside it"));
  }
  if (rule.ask !== undefined && "by" in written) {
    const message = "`ask` already names who decides";
    issues.push(issue(index, "by", "key", message, "`ask` alone"));
  }
  return issues;
}

function checkNacha(rule: FailureRuleInput, index: number): Issue[] {
  const { codes, words } = rule.match;
  const isAnything = codes.length === 0 && words.length === 0;
  const named = [
    ...codes.map((code) => ({ code, text: code })),
    ...words.map((text) => ({ code: classifyFailure(text).code, text })),
  ];
  if (rule.retry !== undefined) {
    const bad = named.find(({ code }) => code !== null && !isReinitiable(code));
    if (bad !== undefined || isAnything) {
      const what = isAnything ? "anything else" : `\`${bad?.text}\``;
      const message = `${what} may not be tried again: Nacha's rules let only R01 and R09 be reinitiated`;
      return [issue(index, "match", "value", message, ONLY_BOUNCES)];
    }
  }
  if (rule.payAgain !== undefined) {
    const bad = named.find(({ code }) => code !== null && !isMendedByNewDetails(code));
    if (bad !== undefined || isAnything) {
      const what = isAnything ? "Anything else" : `\`${bad?.text}\``;
      const message = `${what} is not fixed by other bank details of the vendor`;
      const expected = "R02, R03, R04, R12, R13, R20, and words that mean them";
      return [issue(index, "match", "value", message, expected)];
    }
  }
  return [];
}

function checkReached(
  rule: FailureRuleInput,
  index: number,
  earlier: readonly FailureRuleInput[],
): Issue[] {
  const all = earlier.findIndex(({ match }) => match.codes.length + match.words.length === 0);
  if (all >= 0) {
    const message = `this rule is never reached: rule ${all + 1} is for anything else`;
    return [issue(index, null, "value", message, "`anything-else` last")];
  }
  const items = ({ match }: FailureRuleInput) => [...match.codes, ...match.words];
  const taken = new Set(earlier.flatMap(items).map((item) => item.toLowerCase()));
  const twice = items(rule).find((item) => taken.has(item.toLowerCase()));
  if (twice === undefined) return [];
  const message = `\`${twice}\` is in an earlier rule already`;
  return [issue(index, "match", "value", message, "each code and each text once")];
}
