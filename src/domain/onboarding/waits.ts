import { growingMs } from "../back-off.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Poll times of what no event tells of, in real milliseconds. */
const SANDBOX = { share: 0.1, firstMs: 1_000, mostMs: 4_000 } as const;
const REAL = { share: 0.1, firstMs: 15_000, mostMs: 1_800_000 } as const;

export interface Wait {
  /** Business-clock instant, and real one, at which it began. */
  readonly sinceMs: number;
  readonly sinceRealMs: number;
  readonly reminders: number;
}

export interface Now {
  readonly businessMs: number;
  readonly realMs: number;
  /** Business seconds in a real second. */
  readonly scale: number;
  readonly sandbox: boolean;
}

/**
 * Whether a wait has lasted too long, or somebody is to be reminded of it.
 *
 * Days are the business clock's, but where that runs fast people have at least a real minute.
 */
export function wardOf(
  wait: Wait,
  now: Now,
  rules: { readonly remindEveryDays: number; readonly expireAfterDays: number },
): "expired" | "remind" | "wait" {
  const waitedMs = now.businessMs - wait.sinceMs;
  const isTooSoon = now.scale > 1 && now.realMs - wait.sinceRealMs < MINUTE_MS;
  if (!isTooSoon && waitedMs >= rules.expireAfterDays * DAY_MS) return "expired";
  const nextMs = (wait.reminders + 1) * rules.remindEveryDays * DAY_MS;
  return waitedMs >= nextMs ? "remind" : "wait";
}

/** Begins the names of waits for something that can't be sent. */
export const HELD_UP = "send:";

/**
 * Names a wait among all of its onboarding, for what people are told of it: the same thing may be
 * waited for twice. What is held up comes and goes with each try, and is one.
 */
export function nameOfWait(key: string, { sinceMs }: Pick<Wait, "sinceMs">): string {
  return key.startsWith(HELD_UP) ? key : `${key}/${sinceMs}`;
}

/** Reminders that are due by now, all told as one. */
export function remindersBy(wait: Wait, now: Now, everyDays: number): number {
  return Math.floor((now.businessMs - wait.sinceMs) / (everyDays * DAY_MS));
}

/** Real milliseconds until looking again: a tenth of the time waited, within bounds. */
export function pollInMs(wait: Wait, now: Now): number {
  return growingMs(now.realMs - wait.sinceRealMs, now.sandbox ? SANDBOX : REAL);
}
