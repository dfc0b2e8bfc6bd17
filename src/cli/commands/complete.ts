import type { Command } from "@commander-js/extra-typings";

import { NamesBody } from "../../api/names.ts";
import type { CliSession } from "../client/session.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { peopleOfHome } from "../home/people.ts";

/** The longest that a person at a command line waits for a name. */
const MOST_MS = 1_000;

/**
 * Adds the command that the scripts of `payrun completion` call: it prints the names with a given
 * prefix, one a line.
 */
export function addCompleteCommand(program: Command, session: CliSession): void {
  program
    .command("complete", { hidden: true })
    .argument("<kind>", "what is named: run, bill, vendor, person …")
    .argument("[begins]", "what has been typed so far", "")
    .action((kind, begins) =>
      session.run({}, async ({ output, config }) => {
        const query = new URLSearchParams({ kind, begins });
        try {
          if (kind === "person") {
            const people = peopleOfHome(config().home).filter((name) => name.startsWith(begins));
            for (const name of people) output.verbatim(name);
            return;
          }
          const path = `/v1/names?${query.toString()}`;
          const { names } = await gatewayOf(config()).get(path, NamesBody, MOST_MS);
          // A line is a name, and no part of it may control the terminal.
          for (const name of names) if (!/\p{C}/u.test(name)) output.verbatim(name);
        } catch {
          // Completion has no one to report an error to, so it offers no names.
        }
      }),
    );
}
