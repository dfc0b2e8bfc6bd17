export type GivenDuration = string | number;

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  second: 1_000,
  seconds: 1_000,
  m: 60_000,
  minute: 60_000,
  minutes: 60_000,
  hours: 3_600_000,
};

/** A time as Temporal takes it, such as `30s` or `2 minutes`. @throws for one it doesn't know */
export function durationMs(given: GivenDuration): number {
  if (typeof given === "number") return given;
  const [, count, unit] = /^(\d+)\s*([a-z]+)$/.exec(given) ?? [];
  const unitMs = UNITS_MS[unit ?? ""];
  if (count === undefined || unitMs === undefined) throw new Error(`no duration: ${given}`);
  return Number(count) * unitMs;
}
