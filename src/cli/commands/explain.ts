import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../gateway-client.ts";
import type { Session } from "../session.ts";
import { historyLines } from "../show-history.ts";

export function addExplainCommand(program: Command, session: Session): void {
  program
    .command("explain")
    .description(
      "tell everything about a bill: approvals, requests, payments, and whether it was paid once",
    )
    .argument("<payable>", "the payable's id")
    .option("--json", "print one JSON document")
    .action((payableId, options) =>
      session.run(options, async ({ output, config }) => {
        const history = await gatewayOf(config()).history(payableId);
        output.lines(historyLines(history));
        output.document(history);
      }),
    );
}
