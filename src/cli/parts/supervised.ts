import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { Processes } from "./processes.ts";

/** A second signal within this time is the same Ctrl-C: set-up under an older Node forwards it. */
const SAME_SIGNAL_MS = 700;

const PARENT_POLL_MS = 300;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Supervision {
  /** Resolves with the exit code when a signal or the end of the parent interrupts the work. */
  readonly interrupted: Promise<ExitCode>;
  /** Acts like Ctrl-C, for prompts that read it from the terminal themselves. */
  interrupt(): void;
}

/**
 * Does work that needs processes, and leaves none behind however it ends: success, failure, a part
 * that died, or Ctrl-C at any moment.
 *
 * @param said is called when everything is being stopped
 * @param work resolves with the exit code; it is abandoned if Ctrl-C comes first
 * @param options.followParent end when our parent process has ended: a signal that ends npm and its
 *   shell doesn't reach the programs that they run
 */
export async function supervised(
  processes: Processes,
  said: (line: string) => void,
  work: (supervision: Supervision) => Promise<ExitCode>,
  options: { readonly followParent?: boolean } = {},
): Promise<ExitCode> {
  const interruption = Promise.withResolvers<ExitCode>();
  const death = Promise.withResolvers<never>();
  let firstAtMs: number | undefined;
  const onSignal = () => {
    const nowMs = Date.now();
    firstAtMs ??= nowMs;
    if (nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(EXIT.interrupted);
    interruption.resolve(EXIT.interrupted);
  };
  const onExit = () => processes.killAllNow();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on("exit", onExit);
  const orphaned = options.followParent === true ? whenParentIsGone(onSignal) : undefined;
  processes.onUnexpectedExit(({ name, logFile }, { code, signal }) => {
    death.reject(
      new CliError(EXIT.failed, `the ${name} has ended (${signal ?? `exit code ${code}`})`, {
        code: `${name}_died`,
        hint: `Its log: ${logFile}`,
      }),
    );
  });
  const working = work({ interrupted: interruption.promise, interrupt: onSignal });
  // Abandoned work may still fail, and nothing awaits it any more.
  working.catch(() => undefined);
  death.promise.catch(() => undefined);
  try {
    return await Promise.race([working, interruption.promise, death.promise]);
  } finally {
    if (firstAtMs !== undefined) said("stopping …");
    await processes.stopAll();
    clearInterval(orphaned);
    process.off("exit", onExit);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

function whenParentIsGone(end: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, PARENT_POLL_MS);
  return timer.unref();
}
