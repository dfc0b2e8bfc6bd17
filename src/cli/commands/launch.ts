import type { Command } from "@commander-js/extra-typings";
import { definedOnly } from "../../contracts/defined-only.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { launchedCancellation, isCancellation } from "../show/cancellations.ts";
import { collect } from "../terminal/collect.ts";
import { readDuration } from "../terminal/duration.ts";
import { gatewayOf, type GatewayClient } from "../client/gateway-client.ts";
import { orExample, playbookNamed } from "./playbook-files.ts";
import { printRun } from "../show/run-document.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { joinedBySchedule, launchedLines } from "../show/launched.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { hasEnded, runLines } from "../show/run.ts";
import { dim, green } from "../terminal/text.ts";
import { exitCodeOf, pollRun, pollUntil, progressLine } from "../show/wait-for-run.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import type { RunStatus } from "../../api/runs.ts";
import { AnyStatusBody } from "../../api/statuses.ts";
import { type OnboardingStatus, OnboardingStatusBody } from "../../api/onboardings.ts";
import type { Output } from "../terminal/output.ts";
import { onboardingLines } from "../show/onboarding.ts";

/**
 * Reports an onboarding that was launched or joined.
 *
 * @param wait wait until it ends or the time is up: 0 verified, 1 ended otherwise, 3 it still waits
 */
async function onboardingLaunched(
  output: Output,
  gateway: GatewayClient,
  launched: OnboardingStatus,
  wait: { readonly limitMs: number } | null,
): Promise<ExitCode> {
  if (wait === null) {
    output.line(`${green("✓")} ${launched.id}`);
    output.line(dim(`payrun status ${launched.id}`));
    output.line(launched.waitingFor ?? dim(`payrun provide ${launched.business} tax --file FILE`));
    output.document(launched);
    return EXIT.done;
  }
  const path = `/v1/runs/${encodeURIComponent(launched.id)}`;
  const status = await pollUntil(() => gateway.get(path, OnboardingStatusBody), {
    until: ({ ended }) => ended,
    changed: ({ phase, waitingFor }) => output.note(dim(`${phase} · ${waitingFor ?? ""}`)),
    limitMs: wait.limitMs,
  });
  output.lines(onboardingLines(status));
  output.document(status);
  if (!status.ended) return EXIT.waiting;
  return status.phase === "verified" ? EXIT.done : EXIT.failed;
}

const WAIT_LIMIT = "10m";

/** Most plans are ready within a second or two. */
const PLANNED_MS = 3_000;

interface LaunchOptions {
  readonly period?: string | undefined;
  readonly force?: true | undefined;
  readonly business?: string | undefined;
  readonly input?: string[] | undefined;
  readonly wait?: true | undefined;
  readonly timeout: string;
}

export function addLaunchCommand(program: Command, session: CliSession): void {
  program
    .command("launch")
    .description("launch a playbook, or join the run of the same period")
    .argument("<playbook>", "a stored playbook's name, or a file, which is applied first")
    .option("--period <date>", "the period to pay for, YYYY-MM-DD")
    .option("--force", "take a date that the playbook's schedule doesn't have")
    .option("--input <key=value>", "an input kept with the run; may be repeated", collect)
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option("--wait", "wait until it ends: exit 0 if it completed, 1 if not, 3 if it still waits")
    .option("--timeout <duration>", "how long --wait waits", WAIT_LIMIT)
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document, the status at the end")
    .action((playbook, options) =>
      session.run(options, (context) => launch(context, playbook, options)),
    );
}

async function launch(
  { output, config }: CommandContext,
  nameOrFile: string,
  options: LaunchOptions,
): Promise<ExitCode> {
  const inputs = readInputs(options.input ?? []);
  const limitMs = readDuration(options.timeout, "--timeout");
  const gateway = gatewayOf(config());
  const playbook = await playbookNamed(gateway, nameOrFile, (line) => output.note(line));
  const asked = {
    ...definedOnly({ business: options.business }),
    ...playbook,
    ...definedOnly({ period: options.period, force: options.force }),
    ...(options.input === undefined ? {} : { inputs }),
  };
  const { made: launched, isNew } = await orExample(nameOrFile, "launch", () =>
    gateway.create("/v1/runs", AnyStatusBody, asked),
  );
  if (launched.kind === "kyb-onboarding") {
    const wait = options.wait === undefined ? null : { limitMs };
    return onboardingLaunched(output, gateway, launched, wait);
  }
  if (isCancellation(launched)) {
    const wait = options.wait === true;
    return launchedCancellation({ output, gateway }, launched, { wait, limitMs });
  }
  if (options.wait === undefined) {
    const run = launched.kind === "pay-run" ? await planned(gateway, launched) : launched;
    const { lines, exitCode } = launchedLines(run, { isNew, home: config().home });
    output.lines([
      ...lines,
      ...(run.kind === "pay-run" ? await joinedBySchedule(gateway, run) : []),
    ]);
    const isPlanned = run.phase !== "planning";
    if (!isPlanned) await noteNobodyWorks(gateway, output);
    output.document(run);
    return exitCode;
  }
  output.note(launched.id);
  if (launched.kind === "pay-run") {
    for (const line of await joinedBySchedule(gateway, launched)) output.note(line);
  }
  const run = await pollRun(gateway, launched.id, {
    until: hasEnded,
    limitMs,
    changed: (now) => output.note(dim(progressLine(now))),
  });
  output.lines(runLines(run));
  if (output.json) await printRun(output, gateway, await gateway.wholeRun(run.id));
  return exitCodeOf(run);
}

/** Returns the run once it has its plan, or after a short wait if no worker plans it. */
function planned(gateway: GatewayClient, { id }: RunStatus): Promise<RunStatus> {
  return pollRun(gateway, id, { until: ({ phase }) => phase !== "planning", limitMs: PLANNED_MS });
}

function readInputs(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw usageError(`--input must be key=value, not “${pair}”`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
}
