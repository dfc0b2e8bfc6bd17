import type { Command } from "@commander-js/extra-typings";

import { playbookJsonSchema } from "../../playbooks/schema-json.ts";
import type { CliSession } from "../client/session.ts";

export function addSchemaCommand(program: Command, session: CliSession): void {
  program
    .command("schema")
    .description("print the JSON Schema of playbooks (draft 7), for editors")
    .option("--json", "no effect: the schema is always JSON")
    .action((options) =>
      session.run({ ...options, json: true }, async ({ output }) => {
        output.document(playbookJsonSchema());
      }),
    );
}
