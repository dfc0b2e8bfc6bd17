import { growingMs } from "../back-off.ts";
import { PEOPLE_MIN_MS } from "../clock/spans.ts";
import { soonestRestMs, untilNextMs } from "../rests.ts";

const DAY_MS = 86_400_000;

/** Poll times of what no event tells of, in real milliseconds. */
const SANDBOX = { share: 0.1, firstMs: 1_000, mostMs: 90_000 } as const;
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

/** Begins the names of waits in which it is the service's turn. */
export const SERVICES_TURN = "service:";

export interface WaitRules {
  readonly remindEveryDays: number;
  readonly expireAfterDays: number;
}

/**
 * The rules of the wait of this name. Of what nobody but the service can do people hear only once it
 * takes as long as a wait for them may, and it never ends by that.
 */
export function rulesOf(key: string, policy: WaitRules): WaitRules {
  if (!key.startsWith(SERVICES_TURN)) return policy;
  return { remindEveryDays: policy.expireAfterDays, expireAfterDays: Number.POSITIVE_INFINITY };
}

/**
 * Whether a wait has lasted too long, or somebody is to be reminded of it.
 *
 * Days are the business clock's, but where that runs fast people have at least a real minute.
 */
export function wardOf(wait: Wait, now: Now, rules: WaitRules): "expired" | "remind" | "wait" {
  const waitedMs = now.businessMs - wait.sinceMs;
  const isTooSoon = now.scale > 1 && now.realMs - wait.sinceRealMs < PEOPLE_MIN_MS;
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

/**
 * Real milliseconds until looking again: a tenth of the time waited, within bounds, and when
 * somebody is to be reminded or the wait has lasted too long.
 */
export function pollInMs(wait: Wait, now: Now, rules: WaitRules): number {
  const { reminders, sinceMs, sinceRealMs } = wait;
  const pollMs = growingMs(now.realMs - sinceRealMs, now.sandbox ? SANDBOX : REAL);
  const days = [(reminders + 1) * rules.remindEveryDays, rules.expireAfterDays];
  const peopleMs = now.scale > 1 ? sinceRealMs + PEOPLE_MIN_MS - now.realMs : -Infinity;
  const wardMs = untilNextMs(
    days.map((count) => sinceMs + count * DAY_MS),
    now,
  );
  return soonestRestMs(pollMs, Math.max(wardMs, peopleMs));
}
