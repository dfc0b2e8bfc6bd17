import { join, relative } from "node:path";
import type { Command } from "@commander-js/extra-typings";

import type { Config } from "../../config.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { fixtureOf } from "../home/fixture.ts";
import { LOCAL_APPROVER } from "../home/people.ts";
import { playbookHere } from "../home/playbook-here.ts";
import { ownHome } from "../home/private-file.ts";
import { APPROVER_ROLES } from "../parts/ensure-people.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { Processes } from "../parts/processes.ts";
import { readRunning, removeRunning, writeRunning } from "../home/running-file.ts";
import { SANDBOX_BUSINESS } from "../parts/sandbox-business.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { chooseAddresses, type Stack, type StackOptions, startStack } from "../parts/stack.ts";
import { supervised } from "../parts/supervised.ts";
import { bold, dim, textTable } from "../terminal/text.ts";

/** In-flight requests may take ten seconds, and the worker waits for them. */
const WORKER_STOP_MS = 30_000;

export function addUpCommand(program: Command, session: CliSession): void {
  program
    .command("up")
    .description("start everything for development: Temporal, sandbox, worker and gateway")
    .option("--no-sandbox", "without the sandbox: businesses come from the settings")
    .option("--no-temporal", "without Temporal's development server: use the one in the settings")
    .option(
      "--fixture <name|file>",
      "what a new sandbox starts with: sample, blank, two-businesses, unverified, generated:1000, or a file; default: sample",
    )
    .option("--json", "print the addresses as one JSON document once all is ready")
    .action((options) => session.run(options, (context) => up(context, options)));
}

async function up(
  { output, config: settings }: CommandContext,
  wanted: {
    readonly sandbox: boolean;
    readonly temporal: boolean;
    readonly fixture?: string | undefined;
  },
): Promise<ExitCode> {
  const config = settings();
  const running = readRunning(config.home);
  if (running !== undefined) throw alreadyRunning(config.home, running.pid);
  ownHome(config);
  const hasBusinesses = !config.isHomeSandbox && config.profiles.all().length > 0;
  const fixture = wanted.sandbox ? fixtureOf(config.home, wanted.fixture) : undefined;
  const isSet = (name: string) => config.settings.some((each) => each.name === name && each.isSet);
  const said = (line: string) => output.note(line);
  const options: StackOptions = {
    config,
    home: config.home,
    databaseUrl: config.databaseUrl,
    embedTemporal: wanted.temporal && !config.temporal.isExternal,
    sandbox:
      fixture === undefined ? null : { fixture: fixture.starts, isTheBusiness: !hasBusinesses },
    publicUrl: isSet("PAYRUN_PUBLIC_URL") ? config.publicUrl : undefined,
    bundleFolder: join(config.home, "cache"),
    workerStopTimeoutMs: WORKER_STOP_MS,
    restarted: said,
  };
  const processes = new Processes(join(config.home, "logs"));
  let isUp = false;
  try {
    const code = await supervised(processes, said, async ({ interrupted }) => {
      const addresses = await chooseAddresses(options, said);
      writeRunning(config.home, addresses);
      said("starting …");
      const stack = await startStack(processes, options, addresses);
      isUp = true;
      fixture?.note();
      welcome(output, stack, config, hasBusinesses);
      return interrupted;
    });
    // Interrupting it is the normal way to leave it.
    return isUp && code === EXIT.interrupted ? EXIT.done : code;
  } finally {
    removeRunning(config.home);
  }
}

function alreadyRunning(home: string, pid: number): CliError {
  return new CliError(EXIT.unavailable, `Payrun runs in ${home} already (process ${pid})`, {
    code: "already_running",
    hint: "Use that one, stop it, or set PAYRUN_HOME to another folder.",
  });
}

function welcome(
  output: Output,
  { addresses, business }: Stack,
  { home, profiles }: Config,
  hasBusinesses: boolean,
): void {
  const shown = (path: string) => relative(process.cwd(), path) || ".";
  const rows = [
    ["Gateway", addresses.gateway],
    ["Temporal", addresses.temporalUi ?? addresses.temporal],
    ...(addresses.sandbox === null ? [] : [["Sandbox", `${addresses.sandbox}  (no real money)`]]),
    ...(business === null
      ? []
      : [
          [
            "Profile",
            `${shown(business.profilesPath)}  (yours to edit: whom to notify, signers …)`,
          ],
        ]),
    ["Logs", shown(join(home, "logs"))],
  ];
  output.line(bold("Payrun is up."));
  output.lines(textTable([{}, {}], rows).map((line) => `  ${line}`));
  if (business !== null) {
    output.line(`Business: ${SANDBOX_BUSINESS}, from the sandbox.`);
    output.line(
      `People: you are local-admin, who launches; --as ${LOCAL_APPROVER} decides, as controller and owner.`,
    );
  } else if (hasBusinesses) {
    output.line(
      `Businesses: ${profiles
        .all()
        .map(({ name }) => name)
        .join(", ")}.`,
    );
  } else {
    output.line("No business is configured: “payrun init” writes a profiles file.");
  }
  output.line("In another terminal, in this folder:");
  for (const command of nextCommands(business !== null)) output.line(`  ${command}`);
  output.line(dim("Ctrl-C stops everything."));
  output.document({
    ready: true,
    gateway: addresses.gateway,
    temporal: addresses.temporal,
    temporalUi: addresses.temporalUi,
    sandbox: addresses.sandbox,
    business: business === null ? null : { name: SANDBOX_BUSINESS, id: business.businessId },
  });
}

function nextCommands(isSandbox: boolean): string[] {
  if (!isSandbox) return ["payrun doctor"];
  const { name, path, roles } = playbookHere(process.cwd());
  const isLocals = roles.length === 0 || roles.some((role) => APPROVER_ROLES.includes(role));
  const other = isLocals ? undefined : roles[0];
  return [
    `payrun launch ${shellWord(path)}`,
    ...(other === undefined ? [] : [`payrun token create ${other} --role ${other}`]),
    `payrun approve ${name} --as ${other ?? LOCAL_APPROVER}`,
    `payrun watch ${name}`,
    "payrun sandbox clock --scale 43200   (twelve hours a second, so that money settles)",
  ];
}
