import type { Command } from "@commander-js/extra-typings";

import { runDemo } from "./run-demo.ts";
import type { CliSession } from "../client/session.ts";

export function addDemoCommand(program: Command, session: CliSession): void {
  program
    .command("demo")
    .description("a whole pay run on a sandbox, with a killed worker in the middle: no real money")
    .option("--once", "end after the report, instead of staying up")
    .option("--fresh", "start over, instead of going on with an unfinished one")
    .action((options) =>
      session.run({}, () =>
        runDemo({ once: options.once === true, fresh: options.fresh === true }),
      ),
    );
}
