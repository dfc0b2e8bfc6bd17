import { Command, CommanderError } from "@commander-js/extra-typings";

import { EXIT } from "./cli-error.ts";
import { addSchemaCommand } from "./commands/schema.ts";
import { addUpCommand } from "./commands/up.ts";
import { addValidateCommand } from "./commands/validate.ts";
import { Output, reportError } from "./output.ts";
import { Session } from "./session.ts";

const ABOUT = `Pays a company's bills as durable workflows: plans, asks for approval, pays once, follows
every payment until its money has settled, and proves it.`;

const AFTER_HELP = `
Exit codes: 0 done, 1 failed, 2 wrong usage or invalid playbook, 3 waits for somebody,
            4 can't reach Temporal, the API or the store.
Start here: payrun demo   (or npm start; a sandbox, no real money)`;

/**
 * Runs one command line.
 *
 * @param args without the program's own name
 * @returns the exit code
 */
export async function runCli(args: readonly string[]): Promise<number> {
  const session = new Session();
  try {
    await createProgram(session).parseAsync([...args], { from: "user" });
    return session.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return usageOutcome(error, args);
    return reportError(error, session.output);
  }
}

function createProgram(session: Session): Command {
  const program = new Command("payrun")
    .description(ABOUT)
    .addHelpText("after", AFTER_HELP)
    .helpCommand(true)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });
  addUpCommand(program, session);
  addValidateCommand(program, session);
  addSchemaCommand(program, session);
  return program;
}

/** Commander has said what is wrong on standard error; programs also get their document. */
function usageOutcome(error: CommanderError, args: readonly string[]): number {
  if (error.exitCode === 0) return EXIT.done;
  const message = error.message.replace(/^error: /, "");
  new Output({ json: args.includes("--json") }).document({ error: "usage", message });
  return EXIT.usage;
}
