import type { Command } from "@commander-js/extra-typings";

import { CliError, EXIT, usageError } from "../cli-error.ts";
import { gatewayOf } from "../gateway-client.ts";
import { playbookRevisions } from "../gateway-shapes.ts";
import { applyPlaybook } from "../playbook-files.ts";
import type { Session } from "../session.ts";
import { green } from "../text.ts";

export function addRevertCommand(program: Command, session: Session): void {
  program
    .command("revert")
    .description("store an earlier revision of a playbook again, as its newest")
    .argument("<name>", "the playbook's name")
    .argument("[revision]", "which one; the one before the newest unless said")
    .option("--json", "print one JSON document")
    .action((name, wanted, options) =>
      session.run(options, async ({ output, config }) => {
        const number = wanted === undefined ? undefined : Number(wanted);
        if (number !== undefined && (!Number.isInteger(number) || number < 1)) {
          throw usageError(`a revision is a number from 1, not “${wanted}”`);
        }
        const gateway = gatewayOf(config());
        const path = `/v1/playbooks/${encodeURIComponent(name)}`;
        const { items } = await gateway.get(path, playbookRevisions);
        const found =
          number === undefined ? items[1] : items.find(({ revision }) => revision === number);
        if (found === undefined) {
          const known = items.map(({ revision }) => revision).join(", ");
          const which =
            number === undefined ? "no revision before its newest" : `no revision ${number}`;
          throw new CliError(EXIT.failed, `${name} has ${which}; it has ${known}`, {
            code: "not_found",
          });
        }
        const applied = await applyPlaybook(gateway, { name, text: found.text });
        output.line(
          `${green("✓")} ${name} is as in revision ${found.revision} again, now revision ${applied.revision}`,
        );
        output.document({ applied: [applied], revertedTo: found.revision });
      }),
    );
}
