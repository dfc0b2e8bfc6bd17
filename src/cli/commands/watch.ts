import type { Command } from "@commander-js/extra-typings";

import { cancellationLines, isCancellationId, pollCancellation } from "../show/cancellations.ts";
import { usageError } from "../terminal/cli-error.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { printRun } from "../show/run-document.ts";
import { findRunId } from "../client/run-id.ts";
import type { Session } from "../client/session.ts";
import { everySoOften, nobodyWorks } from "../show/conditions.ts";
import { hasEnded, runLines } from "../show/run.ts";
import { liveView } from "../terminal/live-view.ts";
import { exitCodeOf, pollRun, progressLine } from "../show/wait-for-run.ts";

/** How often is looked whether anybody works: what a dead worker leaves undone changes nothing else. */
const WORKERS_EVERY_MS = 10_000;

export function addWatchCommand(program: Command, session: Session): void {
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
        let told = await nobodyWorks(gateway);
        const isLive = process.stdout.isTTY && !output.json;
        if (!isLive) for (const line of told) output.note(line);
        if (isCancellationId(id)) {
          const now = await pollCancellation(gateway, id, {
            changed: (line, status) =>
              view.show(line, status.zone, () => cancellationLines(status)),
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
          notes: everySoOften(() => nobodyWorks(gateway), told, WORKERS_EVERY_MS),
          changed: (now, notes) => {
            const isNew = notes.join() !== told.join();
            told = [...notes];
            if (isNew && !isLive) {
              for (const line of notes.length === 0 ? ["A worker works again."] : notes)
                output.note(line);
            }
            view.show(progressLine(now), now.zone, () => [...runLines(now), ...notes]);
          },
        });
        view.end(runLines(run));
        if (output.json) await printRun(output, gateway, await gateway.wholeRun(run.id));
        return exitCodeOf(run);
      }),
    );
}
