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

/** Parses a duration as Temporal does, such as `30s` or `2 minutes`. @throws for an unknown form */
export function durationMs(given: GivenDuration): number {
  if (typeof given === "number") return given;
  const [, count, unit] = /^(\d+)\s*([a-z]+)$/.exec(given) ?? [];
  const unitMs = UNITS_MS[unit ?? ""];
  if (count === undefined || unitMs === undefined) throw new Error(`no duration: ${given}`);
  return Number(count) * unitMs;
}
