import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../client/gateway-client.ts";
import { findMeant } from "../client/names.ts";
import type { CliSession } from "../client/session.ts";
import { historyLines } from "../show/history.ts";

export function addExplainCommand(program: Command, session: CliSession): void {
  program
    .command("explain")
    .description(
      "show everything about a bill: approvals, requests, payments, and whether it was paid once",
    )
    .argument("<bill>", "a bill's number or id, or its vendor's name if that leaves one bill")
    .option("--business <name>", "needed only if several businesses have a bill of that id")
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const { business } = options;
        const bill = await findMeant(gateway, { kind: "bill", text, business, overToo: true });
        const history = await gateway.history(bill.id, bill.business);
        output.lines(historyLines(history, bill));
        output.document(history);
      }),
    );
}
