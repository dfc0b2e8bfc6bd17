import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../gateway-client.ts";
import { applyPlaybook, readPlaybook } from "../playbook-files.ts";
import type { Session } from "../session.ts";
import { green, printable } from "../text.ts";

export function addApplyCommand(program: Command, session: Session): void {
  program
    .command("apply")
    .description("store playbooks, each under its file's name: an administrator's act")
    .argument("<file...>", "playbook files")
    .option("--check", "only check the files, change nothing")
    .option("--json", "print one JSON document")
    .action((files, options) =>
      session.run(options, async ({ output, config }) => {
        // All are read before any is stored: a mistake in one stores none.
        const playbooks = await Promise.all(files.map((file) => readPlaybook(file)));
        if (options.check === true) {
          for (const { name } of playbooks)
            output.line(`${green("✓")} ${printable(name)} is valid`);
          output.document({ applied: [], checked: playbooks.map(({ name }) => name) });
          return;
        }
        const gateway = gatewayOf(config());
        const applied = [];
        for (const playbook of playbooks) applied.push(await applyPlaybook(gateway, playbook));
        for (const { name, revision, changed } of applied) {
          output.line(`${green("✓")} ${name}, revision ${revision}${changed ? "" : " as before"}`);
        }
        output.document({ applied });
      }),
    );
}
