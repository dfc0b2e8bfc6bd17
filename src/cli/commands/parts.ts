import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";

import { ownHome } from "../home/private-file.ts";
import { environmentWith, isEmptyHome } from "../../config.ts";
import { SandboxControl } from "../client/sandbox-control.ts";
import { readRunning } from "../home/running-file.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { gatewayPart, sandboxPart, workerPart } from "../parts/parts.ts";
import { findPort } from "../parts/ports.ts";
import type { PartPlan } from "../parts/processes.ts";
import type { CliSession } from "../client/session.ts";
import { QUEUE_NAMES } from "../../worker/queues.ts";
import { workflowBundle } from "../parts/workflow-bundle.ts";

const KNOWN_CODES: readonly number[] = Object.values(EXIT);

export function addWorkerCommand(program: Command, session: CliSession): void {
  program
    .command("worker")
    .description("run a worker: workflows and activities")
    .addOption(
      new Option("--serve <what...>", "works only on these; default: on everything").choices(
        QUEUE_NAMES,
      ),
    )
    .action(({ serve }) =>
      session.run({}, async ({ config }) => {
        const settings = config();
        if (isEmptyHome(settings.home)) ownHome(settings);
        const encrypts = settings.encryptsHistories();
        const bundle = await workflowBundle(join(settings.home, "cache"), { encrypts });
        return inForeground(workerPart({ env: environmentWith({}) }, bundle, serve));
      }),
    );
}

export function addGatewayCommand(program: Command, session: CliSession): void {
  program
    .command("gateway")
    .description("run a gateway: webhooks, decisions, launches, actions")
    .action(() =>
      session.run({}, async ({ config }) => {
        const settings = config();
        const isKeptHere = settings.databaseUrl.startsWith("sqlite:");
        if (isKeptHere && isEmptyHome(settings.home)) ownHome(settings);
        return inForeground(gatewayPart({ env: environmentWith({}) }));
      }),
    );
}

export function addSandboxCommand(program: Command, session: CliSession): void {
  const sandbox = program
    .command("sandbox")
    .description(
      "run the sandbox: the Payments Service as a simulation, no real money; PAYRUN_SANDBOX_PORT says where",
    )
    .option("--fixture <name|file>", "what a new one starts with", "sample")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .action((options) =>
      session.run({}, async ({ output, config }) => {
        const settings = config();
        const { home, sandbox } = settings;
        const { host, fixture } = options;
        const port = await findPort(
          { name: "sandbox", setting: sandbox, variable: "PAYRUN_SANDBOX_PORT", host },
          new Set(),
          (line) => output.note(line),
        );
        ownHome(settings);
        const dataDir = join(home, "sandbox");
        mkdirSync(dataDir, { recursive: true });
        return inForeground(
          sandboxPart({ host, port, dataDir, fixture, env: environmentWith({}) }),
        );
      }),
    );
  addClock(sandbox, session);
}

function addClock(sandbox: Command, session: CliSession): void {
  sandbox
    .command("clock")
    .description(
      "let the sandbox's days pass: settlement, due dates, cut-offs; shows the time on its clock",
    )
    .option("--advance <duration>", "once, by this much: 12h, 3d, 2w, or P3D, PT6H")
    .option(
      "--scale <factor>",
      "seconds that pass in each real one; 43200 is half a day, 1 is real",
    )
    .option("--json", "print one JSON document")
    .action(({ advance, scale, ...options }) =>
      session.run(options, async ({ output, config }) => {
        const { home, sandbox: setting } = config();
        const url = readRunning(home)?.sandboxUrl ?? `http://127.0.0.1:${setting.port}`;
        const control = new SandboxControl(url);
        const change = {
          ...(advance === undefined
            ? {}
            : { advance: `PT${readDuration(advance, "--advance") / 1_000}S` }),
          ...(scale === undefined ? {} : { scale: readScale(scale) }),
        };
        const isAsked = Object.keys(change).length > 0;
        const clock = isAsked ? await control.changeClock(change) : await control.clock();
        output.line(clockText(clock));
        output.document(clock);
      }),
    );
}

/** Formats the bank clock with its year: a clock that passes days in seconds soon changes it. */
function clockText({ bank, scale }: { readonly bank: string; readonly scale: number }): string {
  const pace =
    scale === 1
      ? "it goes in real time"
      : `${scale} s pass in each second, until payrun sandbox clock --scale 1`;
  return `Bank clock: ${spokenTime(bank)}, ${newYorkDate(Date.parse(bank)).slice(0, 4)}; ${pace}`;
}

const MOST_SCALE = 1_000_000;

function readScale(text: string): number {
  const scale = Number(text);
  if (scale > 0 && scale <= MOST_SCALE) return scale;
  throw usageError(`--scale must be a number above 0, up to ${MOST_SCALE}, not “${text}”`);
}

/**
 * Runs a part with our own standard streams, forwards the signals that end us, and exits as the
 * part exits.
 */
async function inForeground(plan: PartPlan): Promise<ExitCode> {
  const child = spawn(plan.command, plan.args, {
    env: plan.env,
    stdio: ["pipe", "inherit", "inherit"],
  });
  child.stdin.on("error", () => undefined);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      child.kill("SIGTERM");
      child.stdin.end();
    });
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode) => resolve(exitCode ?? EXIT.failed));
  });
  return isKnown(code) ? code : EXIT.failed;
}

function isKnown(code: number): code is ExitCode {
  return KNOWN_CODES.includes(code);
}
