import { DAY_MS } from "../../contracts/durations.ts";
import { growingMs } from "../back-off.ts";
import type { Clock } from "../clock/clock.ts";
import { soonestSleepMs, untilNextMs } from "../sleeps.ts";

/** Poll times if no event comes, in real milliseconds: a share of the time waited so far. */
const SHARE = 0.1;
const FIRST_POLL_MS = 15_000;
const LONGEST_POLL_MS = 1_800_000;

export interface Wait {
  /** When it began, on the business clock and in real time. */
  readonly sinceMs: number;
  readonly sinceRealMs: number;
  readonly reminders: number;
}

/** Prefix of the names of waits in which the service must act. */
export const SERVICE_MUST_ACT = "service:";

export interface WaitRules {
  readonly remindEveryDays: number;
  readonly expireAfterDays: number;
}

/**
 * Returns the rules of a wait, by its name. If the service must act, people are reminded only as
 * late as their own waits would expire, and the wait itself never expires.
 */
export function rulesOf(key: string, policy: WaitRules): WaitRules {
  if (!key.startsWith(SERVICE_MUST_ACT)) return policy;
  return { remindEveryDays: policy.expireAfterDays, expireAfterDays: Number.POSITIVE_INFINITY };
}

/**
 * Says whether a wait has expired, or people should be reminded of it.
 *
 * Days are the business clock's, but people get their least real time.
 */
export function judgeWait(wait: Wait, now: Clock, rules: WaitRules): "expired" | "remind" | "wait" {
  const waitedMs = now.businessMs - wait.sinceMs;
  const isTooSoon = now.realMs - wait.sinceRealMs < now.peopleMinMs;
  if (!isTooSoon && waitedMs >= rules.expireAfterDays * DAY_MS) return "expired";
  const nextMs = (wait.reminders + 1) * rules.remindEveryDays * DAY_MS;
  return waitedMs >= nextMs ? "remind" : "wait";
}

/** Prefix of the names of waits in which an input can't be sent. */
export const HELD_UP = "send:";

/**
 * Names a wait within its onboarding, for notices: the same input may be awaited twice. An input
 * that can't be sent starts and stops waiting with each try, and keeps one name.
 */
export function nameOfWait(key: string, { sinceMs }: Pick<Wait, "sinceMs">): string {
  return key.startsWith(HELD_UP) ? key : `${key}/${sinceMs}`;
}

/** Returns the number of reminders due by now; people get them as one. */
export function remindersBy(wait: Wait, now: Clock, everyDays: number): number {
  return Math.floor((now.businessMs - wait.sinceMs) / (everyDays * DAY_MS));
}

/**
 * Returns the real milliseconds until the next look: a tenth of the time waited, within bounds, or
 * the next reminder or expiry if that is sooner.
 */
export function pollInMs(wait: Wait, now: Clock, rules: WaitRules): number {
  const { reminders, sinceMs, sinceRealMs } = wait;
  const pollMs = growingMs(now.realMs - sinceRealMs, {
    share: SHARE,
    firstMs: now.soonerMs(FIRST_POLL_MS),
    mostMs: now.soonerMs(LONGEST_POLL_MS),
  });
  const days = [(reminders + 1) * rules.remindEveryDays, rules.expireAfterDays];
  const peopleMs = sinceRealMs + now.peopleMinMs - now.realMs;
  const wardMs = untilNextMs(
    days.map((count) => sinceMs + count * DAY_MS),
    now,
  );
  return soonestSleepMs(pollMs, Math.max(wardMs, peopleMs));
}
