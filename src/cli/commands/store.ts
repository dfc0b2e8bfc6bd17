import type { Command } from "@commander-js/extra-typings";

import { copyStore } from "../../store/copy/copy.ts";
import { grantStatements } from "../../store/postgres/grants.ts";
import { CopyRefusedError } from "../../store/copy/refused.ts";
import { isPlainDatabase, plainDatabaseText } from "../../config/plaintext.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import type { CliSession } from "../client/session.ts";
import { dim, green } from "../terminal/text.ts";

const ADDRESS = "sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE";

export function addStoreCommand(program: Command, session: CliSession): void {
  const store = program
    .command("store")
    .description("move the store, and say who may do what in it, on the store's host");
  addGrants(store, session);
  store
    .command("copy")
    .description(
      "copy everything into an empty store: from SQLite to PostgreSQL, back, or within one kind",
    )
    .requiredOption("--from <address>", `the store as it is: ${ADDRESS}`)
    .requiredOption("--to <address>", "a new file, or an empty database")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const { from, to } = options;
        if (!config().allowsPlaintext.includes("postgres"))
          refusePlain({ "--from": from, "--to": to });
        const tables = await copy(from, to);
        const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
        output.line(`${green("✓")} copied ${rows} rows of ${Object.keys(tables).length} tables`);
        output.line(
          dim("Set PAYRUN_DATABASE_URL to the new store everywhere; start nothing on the old one."),
        );
        output.document({ rows, tables });
      }),
    );
}

function addGrants(store: Command, session: CliSession): void {
  store
    .command("grants")
    .description(
      "print the SQL for PostgreSQL roles of workers, gateways and readers, once there are tables",
    )
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, ({ output }) => {
        const statements = grantStatements();
        for (const statement of statements) output.verbatim(statement);
        output.document({ statements });
        return Promise.resolve();
      }),
    );
}

/** @throws {CliError} 2 if a store would cross a network in the clear */
function refusePlain(addresses: Readonly<Record<string, string>>): void {
  for (const [name, address] of Object.entries(addresses)) {
    if (isPlainDatabase(address)) throw usageError(plainDatabaseText(name));
  }
}

async function copy(from: string, to: string): Promise<Readonly<Record<string, number>>> {
  try {
    return await copyStore(from, to);
  } catch (error) {
    if (!(error instanceof CopyRefusedError)) throw error;
    throw new CliError(EXIT.failed, error.message, {
      code: `copy_${error.code.replace("-", "_")}`,
    });
  }
}
