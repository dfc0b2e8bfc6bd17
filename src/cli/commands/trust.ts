import { relative } from "node:path";
import type { Command } from "@commander-js/extra-typings";

import { distrustHere, type Trustable, trustableHere } from "../../config.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { gatewayOfTokens, peopleOfHome } from "../home/people.ts";
import { CliError, EXIT, type ExitCode, errorReason } from "../terminal/cli-error.ts";
import { asked, requireYes } from "../terminal/confirm.ts";
import { green, printable } from "../terminal/text.ts";

interface TrustOptions {
  readonly remove?: true | undefined;
  readonly yes?: true | undefined;
}

export function addTrustCommand(program: Command, session: CliSession): void {
  program
    .command("trust")
    .description(
      "let this folder's .env, the files that it names and the home in it set what Payrun does",
    )
    .option("--remove", "take the trust in this folder and all that is in it back")
    .option("-y, --yes", "do not ask")
    .option("--json", "print one JSON document")
    .action((options) => session.run(options, (context) => trust(context, options)));
}

async function trust(
  { output }: Pick<CommandContext, "output">,
  { remove, yes }: TrustOptions,
): Promise<ExitCode> {
  if (remove === true) {
    keepingConfiguration(distrustHere);
    output.line(`${green("✓")} nothing in this folder is trusted any more`);
    output.document({ trusted: [] });
    return EXIT.done;
  }
  const all = trustedHere();
  const open = all.filter(({ isTrusted }) => !isTrusted);
  refuseUnshowable(open);
  for (const { path, says } of all) {
    output.verbatim(printable(relative(process.cwd(), path)));
    for (const line of says) output.verbatim(`  ${printable(line)}`);
  }
  if (open.length > 0 && yes !== true) {
    requireYes("trust", { output, yes });
    if (!(await asked("Trust this, until it changes?"))) {
      output.note("Nothing was trusted.");
      return EXIT.failed;
    }
  }
  keepingConfiguration(() => {
    for (const each of open) each.trust();
  });
  output.line(
    all.length === 0
      ? "Nothing here needs trust: there is no .env with settings, and no home."
      : `${green("✓")} trusted until it changes${open.length === 0 ? ", as before" : ""}`,
  );
  output.document({ trusted: all.map(({ path, says }) => ({ path, says })) });
  return EXIT.done;
}

/** @throws {CliError} 2 if some of it can't be shown as a whole, with what to correct */
function refuseUnshowable(open: readonly Trustable[]): void {
  const problems = [...new Set(open.flatMap((each) => each.problems))];
  if (problems.length === 0) return;
  const message = `nothing was trusted, because not all can be shown:\n  ${problems.join("\n  ")}`;
  throw new CliError(EXIT.usage, message, {
    code: "settings",
    hint: "Correct this, then type payrun trust again.",
    details: problems,
  });
}

function trustedHere(): Trustable[] {
  const { files, home } = trustableHere();
  if (home === undefined) return [...files];
  const people = peopleOfHome(home.path);
  const gateway = gatewayOfTokens(home.path);
  const kept = `tokens of ${people.join(", ")}, for ${gateway === undefined ? "no gateway that it names" : `the gateway at ${gateway}`}`;
  return [...files, { ...home, says: [...home.says, ...(people.length === 0 ? [] : [kept])] }];
}

function keepingConfiguration(change: () => void): void {
  try {
    change();
  } catch (error) {
    throw new CliError(EXIT.failed, `what is trusted can't be kept: ${errorReason(error)}`, {
      hint: "Set XDG_CONFIG_HOME to a folder that can be written to; what is exported needs no trust.",
    });
  }
}
