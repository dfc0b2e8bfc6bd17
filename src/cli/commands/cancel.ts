import type { Command } from "@commander-js/extra-typings";
import { z } from "zod";

import { gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import type { Session } from "../client/session.ts";
import { onboardingLines } from "../show/onboarding.ts";
import { runLines } from "../show/run.ts";
import { OnboardingStatusBody } from "../../api/onboardings.ts";
import { RunStatusBody } from "../../api/runs.ts";

const cancelled = z.union([OnboardingStatusBody, RunStatusBody]);

export function addCancelCommand(program: Command, session: Session): void {
  program
    .command("cancel")
    .description("stop paying; what was sent is followed to its end. Ends an onboarding")
    .argument(
      "<run>",
      "a run or an onboarding: rent for its newest run, rent/2026-11-26, or its id",
    )
    .option("--reason <text>", "why")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const runId = await findRunId(gateway, id);
        const path = `/v1/runs/${encodeURIComponent(runId)}/cancel`;
        const run = await gateway.post(path, cancelled, {
          ...(options.reason === undefined ? {} : { reason: options.reason }),
        });
        output.lines(run.kind === "kyb-onboarding" ? onboardingLines(run) : runLines(run));
        output.document(run);
      }),
    );
}
