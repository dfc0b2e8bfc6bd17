import { setTimeout as sleep } from "node:timers/promises";

import type { RunStatus } from "../../api/runs.ts";
import { countOf } from "../../domain/counted.ts";
import { shownPhase } from "../../domain/runs/shown-phase.ts";
import { shownSums } from "../../domain/runs/given-back.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { hasEnded } from "./run.ts";

const POLL_MS = 500;

/** A restarting gateway is unavailable for a moment, which doesn't end a watch. */
const AWAY_LIMIT_MS = 30_000;

/**
 * Polls a run until it is as wanted or the time is up.
 *
 * @param changed is called for each status that differs from the previous one in what people see
 * @param limitMs without it, polls forever
 * @returns the last status, as wanted or not
 */
export function pollRun(
  gateway: GatewayClient,
  id: string,
  options: Polling<RunStatus>,
): Promise<RunStatus> {
  return pollUntil(() => gateway.run(id), options);
}

interface Polling<Status> {
  readonly until: (run: Status) => boolean;
  readonly changed?: (run: Status, notes: readonly string[]) => void;
  /** Returns further remarks, reported with the status or when they change by themselves. */
  readonly notes?: () => Promise<readonly string[]>;
  readonly limitMs?: number;
}

/** Does the same for anything that has a status. */
export async function pollUntil<
  Status extends {
    readonly phase: string;
    readonly waitingFor: string | null;
    readonly counts?: object;
  },
>(read: () => Promise<Status>, options: Polling<Status>): Promise<Status> {
  const startedAtMs = Date.now();
  let shown = "";
  const notesNow = options.notes ?? (() => Promise.resolve([]));
  let run = await read();
  let notes = await notesNow();
  let seenAtMs = Date.now();
  for (;;) {
    const now = `${run.phase} ${run.waitingFor ?? ""} ${JSON.stringify(run.counts ?? {})} ${notes.join("\n")}`;
    if (now !== shown) options.changed?.(run, notes);
    shown = now;
    const isLate = options.limitMs !== undefined && Date.now() - startedAtMs >= options.limitMs;
    if (options.until(run) || isLate) return run;
    await sleep(POLL_MS);
    try {
      run = await read();
      notes = await notesNow();
      seenAtMs = Date.now();
    } catch (error) {
      const isAway = error instanceof CliError && error.exitCode === EXIT.unavailable;
      if (!isAway || Date.now() - seenAtMs > AWAY_LIMIT_MS) throw error;
    }
  }
}

/** Returns the exit code of `--wait`: 0 completed, 1 ended otherwise, 3 it still waits. */
export function exitCodeOf(run: RunStatus): ExitCode {
  if (!hasEnded(run)) return EXIT.waiting;
  return run.phase === "completed" ? EXIT.done : EXIT.failed;
}

/** Returns one line of progress, as used by launch --wait and watch. */
export function progressLine(run: RunStatus): string {
  const { byState, givenBack } = run;
  const told =
    byState === undefined
      ? Object.entries(run.counts)
      : Object.entries(shownSums({ byState, givenBack })).map(
          ([state, sum]) => [state, countOf(sum)] as const,
        );
  const counts = told
    .filter(([state]) => state !== "skipped")
    .map(([state, number]) => `${number} ${state}`);
  const asked = (run.approvals ?? [])
    .filter(({ stages, escalated }) => stages > 1 || escalated)
    .map(
      ({ stage, stages, by, escalated }) =>
        `stage ${stage} of ${stages}: ${by.join(" or ")}${escalated ? ", escalated" : ""}`,
    );
  return [shownPhase(run), ...counts, ...asked].join(" · ");
}
