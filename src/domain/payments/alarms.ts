import type { LineReason } from "../../contracts/reason-codes.ts";
import type { LineState } from "../../contracts/line-states.ts";

/**
 * Reasons why the safety net holds a bill or its vendor, and cancels the payment if the service
 * allows.
 */
export const ALARMS = [
  "more_than_owed",
  "payee_changed_after_approval",
  "record_changed_after_approval",
] as const satisfies readonly LineReason[];
export type AlarmCode = (typeof ALARMS)[number];

/** Returns the alarm that a line's reason code names; undefined for any other code. */
export function alarmOf(reasonCode: string | null): AlarmCode | undefined {
  return ALARMS.find((each) => each === reasonCode);
}

/** The end of the sentence that `cancelling` writes, and `alarmAfter` finds. */
const ATTEMPT = " is cancelled if the service still allows it.";

/**
 * Says what is being done about an alarm. The sentence is true until the service has reported the
 * outcome.
 */
export function cancelling(what: string): string {
  return `${what}${ATTEMPT}`;
}

/**
 * Returns the text of an alarm whose payment has been cancelled or refunded, with that outcome in
 * place of the attempt.
 */
export function alarmAfter(text: string, state: LineState): string {
  const done = state === "cancelled" ? "The payment was cancelled." : "The money has come back.";
  if (!text.endsWith(ATTEMPT)) return text;
  const before = text.slice(0, -ATTEMPT.length);
  return `${before.slice(0, before.lastIndexOf(".") + 1)} ${done}`;
}
