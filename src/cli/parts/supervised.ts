import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { Processes } from "./processes.ts";

/** A second Ctrl-C sooner than this is the same one: set-up under an older Node passes it on too. */
const SAME_SIGNAL_MS = 700;

const PARENT_POLL_MS = 300;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Supervision {
  /** Resolves with the exit code when somebody wants it to end. */
  readonly interrupted: Promise<ExitCode>;
  /** As Ctrl-C would, for prompts that take it from the terminal themselves. */
  interrupt(): void;
}

/**
 * Does work that needs processes, and leaves none behind however it ends: done, failed, a part
 * that died, Ctrl-C at any moment.
 *
 * @param said hears that everything is being stopped
 * @param work resolves with the exit code; it is abandoned where Ctrl-C comes first
 * @param options.followParent end when whoever started us has ended: a signal that ends npm and
 *   its shell does not reach what they run
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
  // What is abandoned may still fail: nobody listens any more.
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
