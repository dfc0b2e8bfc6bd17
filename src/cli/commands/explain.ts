import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../client/gateway-client.ts";
import type { Session } from "../client/session.ts";
import { historyLines } from "../show/history.ts";

export function addExplainCommand(program: Command, session: Session): void {
  program
    .command("explain")
    .description(
      "tell everything about a bill: approvals, requests, payments, and whether it was paid once",
    )
    .argument("<payable>", "the payable's id")
    .option("--business <name>", "needed only where several have a bill of that id")
    .option("--json", "print one JSON document")
    .action((payableId, options) =>
      session.run(options, async ({ output, config }) => {
        const history = await gatewayOf(config()).history(payableId, options.business);
        output.lines(historyLines(history));
        output.document(history);
      }),
    );
}
