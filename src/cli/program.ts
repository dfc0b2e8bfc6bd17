import { readFileSync } from "node:fs";

import { Command, CommanderError } from "@commander-js/extra-typings";

import { EXIT } from "./terminal/cli-error.ts";
import { Output, reportError } from "./terminal/output.ts";
import { CliSession } from "./client/session.ts";

const ABOUT =
  "Pays a business's bills as durable workflows: plans, asks for approval, pays once, " +
  "follows every payment until its money has settled, and proves it.";

const AFTER_HELP = `
Exit codes: 0 done, 1 failed, 2 wrong usage, wrong settings or an invalid playbook,
            3 waits for a person, 4 can't reach Temporal, the gateway, the service or the store,
            130 stopped by Ctrl-C.
Start here: payrun init   (writes what a first run needs), or payrun demo; no real money`;

type AddCommand = (program: Command, session: CliSession) => void;

/** A command's module, loaded on demand: `status` needs none of the dependencies of `validate`. */
interface CommandModule {
  readonly heading: string;
  readonly name: string;
  readonly load: () => Promise<AddCommand>;
}

const PARTS = "Parts:";
const PLAYBOOKS = "Playbooks:";
const RUNS = "Runs:";
const ACTING = "Acting:";
const ADMIN = "Admin:";

/** The command that needs all other commands. */
const COMPLETION = "completion";

const COMMANDS: readonly CommandModule[] = [
  {
    heading: PARTS,
    name: "init",
    load: async () => (await import("./commands/init.ts")).addInitCommand,
  },
  {
    heading: PARTS,
    name: "trust",
    load: async () => (await import("./commands/trust.ts")).addTrustCommand,
  },
  {
    heading: PARTS,
    name: "up",
    load: async () => (await import("./commands/up.ts")).addUpCommand,
  },
  {
    heading: PARTS,
    name: "worker",
    load: async () => (await import("./commands/parts.ts")).addWorkerCommand,
  },
  {
    heading: PARTS,
    name: "gateway",
    load: async () => (await import("./commands/parts.ts")).addGatewayCommand,
  },
  {
    heading: PARTS,
    name: "sandbox",
    load: async () => (await import("./commands/parts.ts")).addSandboxCommand,
  },
  {
    heading: PARTS,
    name: "demo",
    load: async () => (await import("./demo/command.ts")).addDemoCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "validate",
    load: async () => (await import("./commands/validate.ts")).addValidateCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "test",
    load: async () => (await import("./commands/test.ts")).addTestCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "schema",
    load: async () => (await import("./commands/schema.ts")).addSchemaCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "apply",
    load: async () => (await import("./commands/apply.ts")).addApplyCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "playbook",
    load: async () => (await import("./commands/playbook.ts")).addPlaybookCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "revert",
    load: async () => (await import("./commands/revert.ts")).addRevertCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "schedule",
    load: async () => (await import("./commands/schedule.ts")).addScheduleCommand,
  },
  {
    heading: PLAYBOOKS,
    name: "plan",
    load: async () => (await import("./commands/plan.ts")).addPlanCommand,
  },
  {
    heading: RUNS,
    name: "launch",
    load: async () => (await import("./commands/launch.ts")).addLaunchCommand,
  },
  {
    heading: RUNS,
    name: "status",
    load: async () => (await import("./commands/status.ts")).addStatusCommand,
  },
  {
    heading: RUNS,
    name: "show",
    load: async () => (await import("./commands/show.ts")).addShowCommand,
  },
  {
    heading: RUNS,
    name: "watch",
    load: async () => (await import("./commands/watch.ts")).addWatchCommand,
  },
  {
    heading: RUNS,
    name: "approve",
    load: async () => (await import("./commands/decide.ts")).addApproveCommand,
  },
  {
    heading: RUNS,
    name: "reject",
    load: async () => (await import("./commands/decide.ts")).addRejectCommand,
  },
  {
    heading: RUNS,
    name: "cancel",
    load: async () => (await import("./commands/cancel.ts")).addCancelCommand,
  },
  {
    heading: RUNS,
    name: "report",
    load: async () => (await import("./commands/report.ts")).addReportCommand,
  },
  {
    heading: RUNS,
    name: "explain",
    load: async () => (await import("./commands/explain.ts")).addExplainCommand,
  },
  {
    heading: RUNS,
    name: "payments",
    load: async () => (await import("./commands/payments.ts")).addPaymentsCommand,
  },
  {
    heading: ACTING,
    name: "hold",
    load: async () => (await import("./commands/holds.ts")).addHoldCommand,
  },
  {
    heading: ACTING,
    name: "release",
    load: async () => (await import("./commands/holds.ts")).addReleaseCommand,
  },
  {
    heading: ACTING,
    name: "stop",
    load: async () => (await import("./commands/stop.ts")).addStopCommand,
  },
  {
    heading: ACTING,
    name: "holds",
    load: async () => (await import("./commands/holds.ts")).addHoldsCommand,
  },
  {
    heading: ACTING,
    name: "notices",
    load: async () => (await import("./commands/notices.ts")).addNoticesCommand,
  },
  {
    heading: ACTING,
    name: "incident",
    load: async () => (await import("./commands/incident.ts")).addIncidentCommand,
  },
  {
    heading: ACTING,
    name: "pay",
    load: async () => (await import("./commands/pay.ts")).addPayCommand,
  },
  {
    heading: ACTING,
    name: "cancel-scheduled",
    load: async () => (await import("./commands/cancel-scheduled.ts")).addCancelScheduledCommand,
  },
  {
    heading: ACTING,
    name: "resolve",
    load: async () => (await import("./commands/resolve.ts")).addResolveCommand,
  },
  {
    heading: ACTING,
    name: "provide",
    load: async () => (await import("./commands/provide.ts")).addProvideCommand,
  },
  {
    heading: ADMIN,
    name: "token",
    load: async () => (await import("./commands/token.ts")).addTokenCommand,
  },
  {
    heading: ADMIN,
    name: "login",
    load: async () => (await import("./commands/session.ts")).addLoginCommand,
  },
  {
    heading: ADMIN,
    name: "session",
    load: async () => (await import("./commands/session.ts")).addSessionCommand,
  },
  {
    heading: ADMIN,
    name: "store",
    load: async () => (await import("./commands/store.ts")).addStoreCommand,
  },
  {
    heading: ADMIN,
    name: "audit",
    load: async () => (await import("./commands/audit.ts")).addAuditCommand,
  },
  {
    heading: ADMIN,
    name: "doctor",
    load: async () => (await import("./commands/doctor.ts")).addDoctorCommand,
  },
  {
    heading: ADMIN,
    name: COMPLETION,
    load: async () => (await import("./commands/completion.ts")).addCompletionCommand,
  },
  {
    heading: ADMIN,
    name: "complete",
    load: async () => (await import("./commands/complete.ts")).addCompleteCommand,
  },
];

/**
 * Runs one command line.
 *
 * @param args without the program's own name
 * @returns the exit code
 */
export async function runCli(args: readonly string[]): Promise<number> {
  const session = new CliSession();
  try {
    const program = await createProgram(session, args);
    await program.parseAsync([...args], { from: "user" });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return usageOutcome(error, args);
    return reportError(error, session.output);
  }
}

/** Returns the program with all of its commands, or only with the requested one. */
export async function createProgram(
  session: CliSession,
  args: readonly string[],
): Promise<Command> {
  const program = new Command("payrun")
    .description(ABOUT)
    .version(ownVersion(), "-V, --version", "print the version")
    .option("--as <name>", "act with the token that this home keeps for this person")
    .hook("preAction", (all) => void (session.person = all.opts().as))
    .addHelpText("after", AFTER_HELP)
    .helpCommand(true)
    .exitOverride();
  const asked = COMMANDS.filter(({ name }) => name === args[0] && name !== COMPLETION);
  for (const { heading, load } of asked.length > 0 ? asked : COMMANDS) {
    const add = await load();
    program.commandsGroup(heading);
    add(program, session);
  }
  return program;
}

function ownVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/** Commander has printed the error on standard error; with --json, programs also get a document. */
function usageOutcome(error: CommanderError, args: readonly string[]): number {
  if (error.exitCode === 0) return EXIT.done;
  const message = error.message.replace(/^error: /, "");
  new Output({ json: args.includes("--json") }).document({ error: "usage", message });
  return EXIT.usage;
}
