/** Why the safety net holds a bill, or its vendor, and takes a payment back where the service lets it. */
export const ALARMS = ["more-than-owed", "payee-changed-after-approval"] as const;
export type AlarmCode = (typeof ALARMS)[number];
