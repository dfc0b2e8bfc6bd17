/**
 * Reasons why the safety net holds a bill or its vendor, and cancels the payment if the service
 * allows.
 */
export const ALARMS = ["more-than-owed", "payee-changed-after-approval"] as const;
export type AlarmCode = (typeof ALARMS)[number];
