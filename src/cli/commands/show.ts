import type { Command } from "@commander-js/extra-typings";

import { AnyStatusBody } from "../../api/statuses.ts";
import type { RunReview } from "../../api/review.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import type { CliSession } from "../client/session.ts";
import { statusLines } from "../show/any-status.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { billLines, reviewDigest, reviewHead } from "../show/review.ts";
import { hasEnded } from "../show/run.ts";
import { printPages } from "../show/run-document.ts";
import { CliError } from "../terminal/cli-error.ts";

export function addShowCommand(program: Command, session: CliSession): void {
  program
    .command("show")
    .description("show a pay run as its approver needs to see it, and what your approval covers")
    .argument("<run>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--summary", "without the list of all bills")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const runId = await findRunId(gateway, id);
        const first = await reviewOf(gateway, runId);
        if (first === undefined) {
          const path = `/v1/runs/${encodeURIComponent(runId)}`;
          const status = await gateway.get(path, AnyStatusBody);
          output.lines(statusLines(status));
          output.document(status);
          return;
        }
        output.lines(reviewHead(first));
        if (options.summary === undefined && !output.json) {
          output.line();
          for await (const { bills } of gateway.reviewPages(first)) output.lines(billLines(bills));
        }
        output.lines(reviewDigest(first));
        if (!hasEnded(first)) await noteNobodyWorks(gateway, output);
        await printPages(output, first, "bills", gateway.reviewPages(first));
      }),
    );
}

/** @returns undefined if the id belongs to something whose bills nobody approves one by one */
async function reviewOf(gateway: GatewayClient, runId: string): Promise<RunReview | undefined> {
  try {
    return await gateway.review(runId);
  } catch (error) {
    if (error instanceof CliError && error.code === "no_pay_run") return undefined;
    throw error;
  }
}
