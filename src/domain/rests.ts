import { growingMs } from "./back-off.ts";

/**
 * Longest sleep of a workflow that is told of everything that it waits for: only what should have
 * been told, and was not, is found so late.
 */
export const LONGEST_REST_MS = 7 * 24 * 3_600_000;

/** No sleep is shorter, or a workflow would spin. */
const LEAST_REST_MS = 250;

/** How often money is looked for that no event tells of: a tenth of the time waited, in real time. */
const MONEY = {
  sandbox: { share: 0.1, firstMs: 1_000, mostMs: 120_000 },
  real: { share: 0.1, firstMs: 60_000, mostMs: 30 * 60_000 },
} as const;

/** Real milliseconds until it is worth looking again for money that has been waited for so long. */
export function moneyRestMs(waitedMs: number, { sandbox }: { readonly sandbox: boolean }): number {
  return growingMs(waitedMs, sandbox ? MONEY.sandbox : MONEY.real);
}

/**
 * Real milliseconds until the next instant of the business clock at which something can change.
 *
 * @param instants on the business clock; those that have passed have had their effect
 */
export function untilNextMs(
  instants: readonly (number | null | undefined)[],
  { businessMs, scale }: { readonly businessMs: number; readonly scale: number },
): number {
  const next = instants.filter(
    (atMs): atMs is number => atMs !== null && atMs !== undefined && atMs > businessMs,
  );
  return (Math.min(...next) - businessMs) / scale;
}

/** The soonest of several sleeps, in whole milliseconds: neither none at all nor for ever. */
export function soonestRestMs(...restsMs: readonly number[]): number {
  return Math.max(LEAST_REST_MS, Math.ceil(Math.min(LONGEST_REST_MS, ...restsMs)));
}
