import type { Command } from "@commander-js/extra-typings";
import { z } from "zod";

import { definedOnly } from "../../contracts/defined-only.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import type { CliSession } from "../client/session.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { onboardingLines } from "../show/onboarding.ts";
import { runLines } from "../show/run.ts";
import { OnboardingStatusBody } from "../../api/onboardings.ts";
import { type RunStatus, RunStatusBody } from "../../api/runs.ts";
import { LINE } from "../../contracts/line-states.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { counted, NOTHING, plus } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { pollRun } from "../show/wait-for-run.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { dim, fitting, green, yellow } from "../terminal/text.ts";
import { typeable } from "../terminal/typed.ts";

/** The run ends its unsent lines when a worker looks, which is at once if a worker is running. */
const SHOWN_WITHIN_MS = 5_000;

function hasStopped({ phase, counts }: RunStatus): boolean {
  return phase !== "planning" && LINE.decidable.every((state) => (counts[state] ?? 0) === 0);
}

/** Lines that a cancelled run has sent are still paid while they are only scheduled. */
function stillOutLines({ id, byState = {} }: RunStatus): string[] {
  const sent = plus(byState.scheduled ?? NOTHING, byState.held ?? NOTHING);
  if (sent.count === 0) return [];
  const [is, goes, it] = sent.count === 1 ? ["is", "goes", "it"] : ["are", "go", "them"];
  return fitting([
    yellow(
      typeable(
        `${counted(sent.count, "bill")}, ${formatUsd(sent.cents)}, ${is} with the service already, and ${goes} out: payrun stop --run ${shortName(id)} --cancel-scheduled calls ${it} back if the service still can.`,
      ),
    ),
  ]);
}

const cancelled = z.union([OnboardingStatusBody, RunStatusBody]);

export function addCancelCommand(program: Command, session: CliSession): void {
  program
    .command("cancel")
    .description("stop paying; what was sent is followed to its end. Ends an onboarding")
    .argument(
      "<run>",
      "a run or an onboarding: rent for its newest run, rent/2026-11-26, or its id",
    )
    .option("--reason <text>", "why")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const runId = await findRunId(gateway, id);
        const path = `/v1/runs/${encodeURIComponent(runId)}/cancel`;
        const run = await gateway.post(path, cancelled, definedOnly({ reason: options.reason }));
        if (run.kind === "kyb-onboarding") {
          output.line(`${green("✓")} ended: ${run.id}`);
          output.lines(onboardingLines(run));
          output.document(run);
          return;
        }
        output.line(`${green("✓")} cancelled: ${run.id}`);
        const now = await pollRun(gateway, runId, { until: hasStopped, limitMs: SHOWN_WITHIN_MS });
        output.lines(runLines(now));
        output.lines(stillOutLines(now));
        if (!hasStopped(now)) {
          output.note(dim("What was not sent yet ends once a worker sees this."));
          await noteNobodyWorks(gateway, output);
        }
        output.document(now);
      }),
    );
}
