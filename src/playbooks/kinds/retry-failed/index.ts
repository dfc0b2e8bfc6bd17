import { definedOnly } from "../../../contracts/defined-only.ts";
import type { FailureRule, RetryFailedPlaybook } from "../../../contracts/playbook.ts";
import { BUILT_IN_RULES } from "../../../domain/retries/policy.ts";
import { playbookKind } from "../kind.ts";
import { checkRetryFailed } from "./checks.ts";
import { type FailureRuleInput, type RetryFailedInput, retryFailedSchema } from "./schema.ts";

/** Handles failed and returned payments: what is tried again, when, and who is asked. */
export const retryFailedKind = playbookKind({
  schema: retryFailedSchema,
  formerKeys: new Map([
    [
      "payments",
      "`events: [payable.payment.failed, payable.payment.reversed]` for payments that were made elsewhere, else nothing",
    ],
  ]),
  checkTogether: checkRetryFailed,
  compile,
});

function compile(name: string, input: RetryFailedInput): RetryFailedPlaybook {
  return {
    kind: "retry-failed",
    name,
    business: input.business ?? null,
    schedule: null,
    rules: input.rules?.map(compileRule) ?? BUILT_IN_RULES,
    giveUpAfterDays: input.giveUp.after,
    giveUpNotify: input.giveUp.tell,
    ...definedOnly({ events: input.events }),
  };
}

function compileRule(rule: FailureRuleInput): FailureRule {
  const { codes, words } = rule.match;
  const pause = rule.pause !== undefined;
  const payAgain = rule.payAgain !== undefined;
  const by = rule.ask ?? rule.by;
  const onIncident = rule.onIncident === "name" ? {} : { onIncident: rule.onIncident };
  if (rule.retry !== undefined) {
    const { atMost, retry: when } = rule;
    return { codes, words, action: "retry", pause, payAgain, when, atMost, by, ...onIncident };
  }
  const action = rule.hold === undefined ? "ask" : "hold-vendor";
  return { codes, words, action, pause, payAgain, when: null, atMost: 0, by, ...onIncident };
}
