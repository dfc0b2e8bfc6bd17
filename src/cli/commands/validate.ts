import type { Command } from "@commander-js/extra-typings";

import { loadPlaybookFile } from "../../playbooks/load.ts";
import { formatProblems } from "../../playbooks/problem.ts";
import { EXIT } from "../terminal/cli-error.ts";
import { playbookFiles } from "./playbook-files.ts";
import type { Session } from "../client/session.ts";
import { count, green, printable } from "../terminal/text.ts";

export function addValidateCommand(program: Command, session: Session): void {
  program
    .command("validate")
    .description("check playbooks, without anything running")
    .argument("<file...>", "playbook files, or folders of them")
    .option("--json", "print one JSON document")
    .action((files, options) =>
      session.run(options, async ({ output }) => {
        const results = [];
        for (const file of await playbookFiles(files)) {
          const loaded = await loadPlaybookFile(file);
          if (loaded.ok) output.line(`${green("✓")} ${printable(file)}: ${loaded.playbook.name}`);
          else output.note(`${formatProblems(loaded.problems)}\n`);
          results.push({
            file,
            ok: loaded.ok,
            name: loaded.ok ? loaded.playbook.name : null,
            problems: loaded.ok ? [] : loaded.problems,
          });
        }
        const invalid = results.filter(({ ok }) => !ok);
        const mistakes = invalid.reduce((sum, { problems }) => sum + problems.length, 0);
        if (mistakes > 0) {
          output.note(`${count(mistakes, "mistake")} in ${count(invalid.length, "playbook")}`);
        }
        output.document({ ok: invalid.length === 0, playbooks: results });
        return invalid.length === 0 ? EXIT.done : EXIT.usage;
      }),
    );
}
