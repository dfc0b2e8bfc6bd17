import process from "node:process";

/**
 * Preloaded into every process of the tests that need no Temporal server: their clock starts on
 * the same ordinary day whenever they run, or on the day in `TEST_NOW`. A project has another day
 * behind `?now=`. Timers keep real time. On the day in `TEST_NOW` files begin within seconds of that
 * instant (`file-begins.ts`): else whichever test ran at its midnight would have two days.
 */
const ownDay = new URL(import.meta.url).searchParams.get("now");
const startsAt = process.env["TEST_NOW"] ?? ownDay ?? "2026-10-14T15:00:00Z";
const startsAtMs = Date.parse(startsAt);
const AGAIN_AFTER_MS = 20_000;
const realNow = Date.now;
let startedMs = 0;
const now = () => startsAtMs + realNow() - startedMs;

/** @param {number} atMs */
function start(atMs) {
  startedMs = atMs;
  // What is started from here counts from the same start, or its clock would differ.
  process.env["TEST_STARTED_MS"] = String(startedMs);
}

start(Number(process.env["TEST_STARTED_MS"] ?? realNow()));
if (process.env["TEST_NOW"] !== undefined) {
  globalThis.startDayAgain = () => {
    if (realNow() - startedMs > AGAIN_AFTER_MS) start(realNow());
  };
}

// A plain property, so that a test can replace it.
Date.now = now;
globalThis.Date = new Proxy(Date, {
  apply: () => new Date(now()).toString(),
  construct: (target, args, newTarget) => {
    /** @type {Date} */
    const made = Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget);
    return made;
  },
});

// What a test starts has the same day.
const preload = `--import=${import.meta.url}`;
const options = process.env["NODE_OPTIONS"] ?? "";
if (!options.includes(preload)) process.env["NODE_OPTIONS"] = `${options} ${preload}`.trim();
