import type { Command } from "@commander-js/extra-typings";

import { EXIT } from "../terminal/cli-error.ts";
import { settingsInUse } from "../home/settings-in-use.ts";
import { checkEverything } from "./doctor-checks.ts";
import type { CliSession } from "../client/session.ts";
import { remarkLines } from "../show/conditions.ts";
import { bold, dim, green, printable, red, textTable, yellow } from "../terminal/text.ts";

const MARKS = { ok: green("✓"), warning: yellow("!"), failed: red("✗") } as const;

export function addDoctorCommand(program: Command, session: CliSession): void {
  program
    .command("doctor")
    .description("list the settings and check what Payrun needs")
    .option("--fix", "fix what can be fixed from here: resume webhook endpoints that are paused")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const inUse = settingsInUse(settings);
        const rows = inUse.map(({ name, value, isSet, description }) => [
          name,
          isSet ? printable(value) : dim(printable(value)),
          dim(description),
        ]);
        output.line(bold("Settings"));
        output.lines(textTable([{ whole: true }, {}, {}], rows));
        const checks = await checkEverything(settings, options.fix === true);
        output.line();
        output.line(bold("Checks"));
        for (const { name, state, text, remedy } of checks) {
          output.lines(remarkLines(MARKS[state], `${name}: ${printable(text)}`, remedy));
        }
        const ok = checks.every(({ state }) => state !== "failed");
        output.document({ ok, settings: inUse, checks });
        return ok ? EXIT.done : EXIT.unavailable;
      }),
    );
}
