import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../gateway-client.ts";
import { runStatus } from "../gateway-shapes.ts";
import { findRunId } from "../run-id.ts";
import type { Session } from "../session.ts";
import { runLines } from "../show-run.ts";

export function addCancelCommand(program: Command, session: Session): void {
  program
    .command("cancel")
    .description("stop drawing bills; what was sent is followed to its end")
    .argument("<id>", "a run's id, or a playbook's name for its newest run")
    .option("--reason <text>", "why")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const runId = await findRunId(gateway, id);
        const run = await gateway.post(`/v1/runs/${encodeURIComponent(runId)}/cancel`, runStatus, {
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        });
        output.lines(runLines(run));
        output.document(run);
      }),
    );
}
