import type { Command } from "@commander-js/extra-typings";

import { ProposalBody } from "../../api/proposals.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import { wholeHash } from "../client/named-hash.ts";
import type { CliSession } from "../client/session.ts";
import { diffLines } from "../show/diff.ts";
import { green, printable, yellow } from "../terminal/text.ts";
import { AppliedPlaybookBody } from "../../api/schemas.ts";
import { asked, canAsk, YES_UNASKED } from "../terminal/confirm.ts";

/**
 * Adds `playbook confirm`. It first shows another person's proposal, so that whoever confirms it
 * has seen the difference.
 */
export function addPlaybookConfirmCommand(playbook: Command, session: CliSession): void {
  playbook
    .command("confirm")
    .description("show what another person has proposed, with its changes, and put it into force")
    .argument("<name>", "the playbook's name")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option(
      "--hash <sha256>",
      "hash of the text that you have seen; needed if there is no terminal",
    )
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const base = `/v1/playbooks/${encodeURIComponent(name)}`;
        const path = (what: string) => ofBusiness(`${base}/${what}`, options.business);
        const found = await gateway.get(path("proposal"), ProposalBody);
        output.line(
          `${printable(found.name)} of ${printable(found.business)}, proposed by ${printable(found.author)}, ${found.hash}`,
        );
        output.lines(diffLines(found.before ?? "", found.text));
        const isAsked = options.hash === undefined && canAsk(output);
        const isAgreed = isAsked && (await asked("Put it into force?"));
        const named = isAgreed ? found.hash : options.hash;
        if (named === undefined) {
          throw new CliError(EXIT.waiting, `${name} waits for a second person`, {
            code: "not_confirmed",
            hint: `payrun playbook confirm ${name} --hash ${found.hash}`,
          });
        }
        const hash = wholeHash(found.hash, named);
        const applied = await gateway.post(path("confirmation"), AppliedPlaybookBody, { hash });
        output.line(`${green("✓")} ${printable(name)}, revision ${applied.revision}`);
        if (applied.note !== undefined) output.line(yellow(printable(applied.note)));
        output.document(applied);
      }),
    );
}
