import type { Command } from "@commander-js/extra-typings";

import { gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import { sendPlaybook, waitsForSecond } from "./playbook-files.ts";
import type { CliSession } from "../client/session.ts";
import { green, printable, yellow } from "../terminal/text.ts";
import { revisionIn, revisionNumber } from "./playbook.ts";
import { PlaybookRevisionsBody } from "../../api/schemas.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";

export function addRevertCommand(program: Command, session: CliSession): void {
  program
    .command("revert")
    .description("store an earlier revision of a playbook again, as its newest")
    .argument("<name>", "the playbook's name")
    .argument(
      "[revision]",
      "which one, as “payrun playbook history” shows them; default: the one before the newest",
    )
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((name, wanted, options) =>
      session.run(options, async ({ output, config }) => {
        const number = revisionNumber(wanted);
        const gateway = gatewayOf(config());
        const path = ofBusiness(`/v1/playbooks/${encodeURIComponent(name)}`, options.business);
        const { items, business } = await gateway.get(path, PlaybookRevisionsBody);
        const found = revisionIn(name, items, number);
        const applied = await sendPlaybook(gateway, { name, business, text: found.text });
        if (applied.proposal !== undefined) throw waitsForSecond([applied]);
        output.line(
          `${green("✓")} ${name} is as in revision ${found.revision} again, now revision ${applied.revision}`,
        );
        if (applied.note !== undefined) output.line(yellow(printable(applied.note)));
        output.document({ applied: [applied], revertedTo: found.revision });
      }),
    );
}
