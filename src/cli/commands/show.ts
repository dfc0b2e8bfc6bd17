import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import type { Session } from "../client/session.ts";
import { billLines, reviewDigest, reviewHead } from "../show/review.ts";
import { printPages } from "../show/run-document.ts";

export function addShowCommand(program: Command, session: Session): void {
  program
    .command("show")
    .description("show a pay run as its approver needs to see it, and what your approval covers")
    .argument("<id>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--summary", "without the list of all bills")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const first = await gateway.review(await findRunId(gateway, id));
        output.lines(reviewHead(first));
        if (options.summary === undefined && !output.json) {
          output.line();
          for await (const { bills } of gateway.reviewPages(first)) output.lines(billLines(bills));
        }
        output.lines(reviewDigest(first));
        await printPages(output, first, "bills", gateway.reviewPages(first));
      }),
    );
}
