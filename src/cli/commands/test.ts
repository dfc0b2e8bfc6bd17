import { readFile } from "node:fs/promises";

import type { Command } from "@commander-js/extra-typings";

import { fixturesOf, testPlaybook } from "../../playbooks/fixtures.ts";
import { playbookFile } from "./playbook-files.ts";
import { loadPlaybookFile } from "../../playbooks/load.ts";
import { formatProblems, type Problem } from "../../playbooks/problem.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { dim, green, printable } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";

export function addTestCommand(program: Command, session: CliSession): void {
  program
    .command("test")
    .description(
      "test who would have to approve what, in which stages: NAME.test.yaml beside the playbook",
    )
    .argument("<playbook>", "a playbook's file")
    .option("--tests <file>", "the tests' file; default: NAME.test.yaml")
    .option("--json", "print one JSON document")
    .action((file, options) => session.run(options, (context) => test(context, file, options)));
}

async function test(
  { output }: CommandContext,
  path: string,
  options: { readonly tests?: string | undefined },
): Promise<ExitCode> {
  const file = playbookFile(path);
  const loaded = await loadPlaybookFile(file);
  if (!loaded.ok) throw invalid(loaded.problems, "the playbook is not valid");
  const { playbook } = loaded;
  if (playbook.kind !== "pay-run") {
    throw usageError(
      `${printable(file)} is a ${playbook.kind}: only pay-runs have approvals to test`,
    );
  }
  const tests = options.tests ?? fixturesOf(file);
  const reading = testPlaybook(playbook, await textOf(tests), tests);
  if (!reading.ok) throw invalid(reading.problems, "the tests are not valid");
  const problems = reading.results.flatMap(({ problem }) => problem ?? []);
  for (const { name, found, problem } of reading.results) {
    if (problem === undefined) {
      output.line(`${green("✓")} ${printable(name)} ${dim(printable(found))}`);
    } else output.note(`${formatProblems([problem])}\n`);
  }
  if (problems.length > 0) {
    output.note(`${counted(problems.length, "test")} of ${reading.results.length} failed`);
  }
  output.document({ ok: problems.length === 0, playbook: playbook.name, results: reading.results });
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw usageError(
      `${printable(file)} can't be read: it holds the playbook's tests`,
      "docs/approvals.md shows how they are written; --tests names another file.",
    );
  }
}

function invalid(problems: readonly Problem[], what: string): CliError {
  return new CliError(EXIT.usage, `${what}\n${formatProblems(problems)}`, {
    code: "invalid_playbook",
    details: problems,
  });
}
