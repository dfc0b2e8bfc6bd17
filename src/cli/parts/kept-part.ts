import { doublingMs } from "../../domain/back-off.ts";
import { errorReason } from "../terminal/cli-error.ts";
import type { Exit, RunningPart, PartPlan, Processes } from "./processes.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

/** A part that has run this long failed for another reason than the last time. */
const SETTLED_AFTER_MS = 60_000;

/**
 * Starts a part, and starts it again, later each time, if it ends unexpectedly: a part that dies
 * under one command must not take everything else with it.
 *
 * @param said is called when the part has ended, and when it is running again
 * @throws {CliError} 4 if the part can't be started the first time
 */
export function startKept(
  processes: Processes,
  plan: PartPlan,
  said: (line: string) => void,
): Promise<RunningPart> {
  let failures = 0;
  const start = (): Promise<RunningPart> => {
    const startedAtMs = Date.now();
    return processes.start(plan, ({ code, signal }: Exit) => {
      if (Date.now() - startedAtMs > SETTLED_AFTER_MS) failures = 0;
      startLater(`the ${plan.name} has ended (${signal ?? `exit code ${code}`})`);
    });
  };
  const startLater = (why: string): void => {
    const waitMs = doublingMs(FIRST_WAIT_MS, LONGEST_WAIT_MS, failures);
    failures += 1;
    // The part's last words may be whole sentences.
    const it = /[.!?]$/.test(why) ? `${why}\n  It` : `${why}; it`;
    said(`${it} is started again in ${waitMs / 1000} s. Log: ${processes.logOf(plan.name)}`);
    setTimeout(() => {
      if (processes.isStopping) return;
      start().then(
        () => said(`the ${plan.name} runs again`),
        (error: unknown) => {
          if (!processes.isStopping) startLater(errorReason(error));
        },
      );
    }, waitMs).unref();
  };
  return start();
}
