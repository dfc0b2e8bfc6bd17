import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { onTestFinished } from "vitest";

/** Half a second is the shortest pause before a request is sent again. */
const PAUSE_MS = 500;

/** Until the end of the test, lets every pause of half a second or longer end at once. */
export function withoutPauses(): void {
  const sleep = timers.setTimeout;
  const use = (setTimeout: typeof sleep): void => {
    Object.assign(timers, { setTimeout });
    syncBuiltinESMExports();
  };
  use((ms = 0, value, options) => sleep(ms < PAUSE_MS ? ms : 1, value, options));
  onTestFinished(() => use(sleep));
}
