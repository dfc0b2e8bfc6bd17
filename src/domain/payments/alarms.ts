/**
 * Reasons why the safety net holds a bill or its vendor, and cancels the payment if the service
 * allows.
 */
export const ALARMS = ["more-than-owed", "payee-changed-after-approval"] as const;
export type AlarmCode = (typeof ALARMS)[number];

/** The alarm that a line's code tells of; undefined of any other code. */
export function alarmOf(reasonCode: string | null): AlarmCode | undefined {
  return ALARMS.find((each) => each === reasonCode);
}

/** What is being done about an alarm: true until the service has said what came of it. */
export function cancelling(what: string): string {
  return `${what} is cancelled where the service still lets us.`;
}

/** The text of an alarm whose payment is cancelled or refunded by now, with what became of it. */
export function alarmAfter(text: string, state: "cancelled" | "refunded"): string {
  const done = state === "cancelled" ? "The payment was cancelled." : "The money has come back.";
  return text.replace(/[^.]* is cancelled where the service still lets us\.$/, ` ${done}`);
}
