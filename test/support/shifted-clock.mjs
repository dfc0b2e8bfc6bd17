import process from "node:process";

/**
 * `npm run test:long` preloads this into every process of its tests: the clock starts at the
 * instant in `PAYRUN_TEST_NOW`. Timers keep real time.
 */
const from = process.env["PAYRUN_TEST_NOW"];
if (from !== undefined) {
  const realNow = Date.now;
  // All processes count from the same start, or their clocks would differ.
  const startedMs = Number(process.env["PAYRUN_TEST_STARTED_MS"] ?? realNow());
  process.env["PAYRUN_TEST_STARTED_MS"] = String(startedMs);
  const offsetMs = Date.parse(from) - startedMs;
  const now = () => realNow() + offsetMs;
  globalThis.Date = new Proxy(Date, {
    apply: () => new Date(now()).toString(),
    construct: (target, args, newTarget) => {
      /** @type {Date} */
      const made = Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget);
      return made;
    },
    get: (target, key) => {
      /** @type {unknown} */
      const value = Reflect.get(target, key);
      return key === "now" ? now : value;
    },
  });
}
