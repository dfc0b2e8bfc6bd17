import { join, relative } from "node:path";
import type { Command } from "@commander-js/extra-typings";

import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { Processes } from "../parts/processes.ts";
import { readRunning, removeRunning, writeRunning } from "../home/running-file.ts";
import { SANDBOX_BUSINESS } from "../parts/sandbox-business.ts";
import type { CommandContext, Session } from "../client/session.ts";
import { chooseAddresses, type Stack, type StackOptions, startStack } from "../parts/stack.ts";
import { supervised } from "../parts/supervised.ts";
import { bold, dim, table } from "../terminal/text.ts";

/** In-flight requests may take ten seconds, and the worker waits for them. */
const WORKER_STOP_MS = 30_000;

export function addUpCommand(program: Command, session: Session): void {
  program
    .command("up")
    .description("start everything for development: Temporal, sandbox, worker and gateway")
    .option("--no-sandbox", "without the sandbox: businesses come from the settings")
    .option("--no-temporal", "without Temporal's development server: use the one of the settings")
    .option("--json", "print the addresses as one JSON document once all is ready")
    .action((options) => session.run(options, (context) => up(context, options)));
}

async function up(
  { output, config: settings }: CommandContext,
  wanted: { readonly sandbox: boolean; readonly temporal: boolean },
): Promise<ExitCode> {
  const config = settings();
  const running = readRunning(config.home);
  if (running !== undefined) throw alreadyRunning(config.home, running.pid);
  const hasBusinesses = config.profiles.all().length > 0;
  const isSet = (name: string) => config.settings.some((each) => each.name === name && each.isSet);
  const options: StackOptions = {
    config,
    home: config.home,
    databaseUrl: config.databaseUrl,
    embedTemporal: wanted.temporal && !config.temporal.isExternal,
    sandbox: wanted.sandbox ? { fixture: "sample", isTheBusiness: !hasBusinesses } : null,
    publicUrl: isSet("PAYRUN_PUBLIC_URL") ? config.publicUrl : undefined,
    bundleFolder: join(config.home, "cache"),
    workerStopTimeoutMs: WORKER_STOP_MS,
  };
  const processes = new Processes(join(config.home, "logs"));
  const said = (line: string) => output.note(line);
  let isUp = false;
  try {
    const code = await supervised(processes, said, async ({ interrupted }) => {
      const addresses = await chooseAddresses(options, said);
      writeRunning(config.home, addresses);
      said("starting …");
      const stack = await startStack(processes, options, addresses);
      isUp = true;
      welcome(output, stack, { home: config.home, hasBusinesses });
      return interrupted;
    });
    // Ending it is how one leaves it.
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
  { home, hasBusinesses }: { readonly home: string; readonly hasBusinesses: boolean },
): void {
  const rows = [
    ["Gateway", addresses.gateway],
    ["Temporal", addresses.temporalUi ?? addresses.temporal],
    ...(addresses.sandbox === null ? [] : [["Sandbox", `${addresses.sandbox}  (no real money)`]]),
    ["Logs", relative(process.cwd(), join(home, "logs")) || "."],
  ];
  output.line(bold("Payrun is up."));
  output.lines(table([{}, {}], rows).map((line) => `  ${line}`));
  if (business !== null) {
    output.line(`Business: ${SANDBOX_BUSINESS}, the sandbox's sample company.`);
  } else if (!hasBusinesses) {
    output.line("No business is configured: set PAYRUN_PROFILES or the PAYMENTS_… settings.");
  }
  output.line(
    dim("In another terminal: payrun launch playbooks/weekly-vendors.yaml · Ctrl-C stops all"),
  );
  output.document({
    ready: true,
    gateway: addresses.gateway,
    temporal: addresses.temporal,
    temporalUi: addresses.temporalUi,
    sandbox: addresses.sandbox,
    business: business === null ? null : { name: SANDBOX_BUSINESS, id: business.businessId },
  });
}
