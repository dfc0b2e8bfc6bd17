import { DAY_MS, HOUR_MS } from "../contracts/durations.ts";
import type { Condition } from "../api/conditions.ts";

export function failed(code: Condition["code"], text: string, remedy: string): Condition {
  return { code, severity: "failed", business: null, text, remedy };
}

export function warning(
  code: Condition["code"],
  text: string,
  remedy: string,
  business: string | null = null,
): Condition {
  return { code, severity: "warning", business, text, remedy };
}

const UNITS = [
  ["day", DAY_MS],
  ["hour", HOUR_MS],
  ["minute", 60_000],
] as const;

/** Returns a duration in words, in the largest unit of which it has at least two. */
export function spokenText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= each * 2) ?? ["second", 1_000];
  return `${Math.round(ms / unitMs)} ${unit}s`;
}
