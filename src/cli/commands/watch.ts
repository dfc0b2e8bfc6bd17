import type { Command } from "@commander-js/extra-typings";

import { cancellationLines, isCancellationId, pollCancellation } from "../show/cancellations.ts";
import { usageError } from "../terminal/cli-error.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { printRun } from "../show/run-document.ts";
import { findRunId } from "../client/run-id.ts";
import type { CliSession } from "../client/session.ts";
import { watchedWorkers } from "../show/conditions.ts";
import { hasEnded, runLines } from "../show/run.ts";
import { liveView } from "../terminal/live-view.ts";
import { exitCodeOf, pollRun, progressLine } from "../show/wait-for-run.ts";

export function addWatchCommand(program: Command, session: CliSession): void {
  program
    .command("watch")
    .description("follow a run until it ends: a live view, or in a pipe a line for every change")
    .argument("<run>", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--json", "print one JSON document, the status at the end")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const id = await findRunId(gateway, text);
        const view = liveView(output);
        const { notes, heard } = await watchedWorkers(gateway, output);
        if (isCancellationId(id)) {
          const now = await pollCancellation(gateway, id, {
            notes,
            changed: (line, status, told) => {
              heard(told);
              view.show(line, status.zone, () => [...cancellationLines(status), ...told]);
            },
          });
          view.end(cancellationLines(now));
          output.document(now);
          return;
        }
        if (/^(funding-incident|kyb-onboarding)\//.test(id)) {
          throw usageError("this waits for people, often for days", `payrun status ${id}`);
        }
        const run = await pollRun(gateway, id, {
          until: hasEnded,
          notes,
          changed: (now, told) => {
            heard(told);
            view.show(progressLine(now), now.zone, () => [...runLines(now), ...told]);
          },
        });
        view.end(runLines(run));
        if (output.json) await printRun(output, gateway, await gateway.wholeRun(run.id));
        return exitCodeOf(run);
      }),
    );
}
