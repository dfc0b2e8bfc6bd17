import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { shownPhase } from "../../domain/runs/shown-phase.ts";
import { statusLines } from "../show/any-status.ts";
import { isCancellation } from "../show/cancellations.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { printRun } from "../show/run-document.ts";
import { findRunId } from "../client/run-id.ts";
import type { CliSession } from "../client/session.ts";
import { billLines } from "../show/review.ts";
import { hasEnded, phaseText } from "../show/run.ts";
import { errorReason } from "../terminal/cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { dim, printable, textTable } from "../terminal/text.ts";
import { stopLine } from "../show/holds.ts";
import { conditionLines, noteNobodyWorks } from "../show/conditions.ts";
import { HoldListBody } from "../../api/holds.ts";
import { ConditionListBody } from "../../api/conditions.ts";
import { RunListBody } from "../../api/runs.ts";
import { AnyStatusBody } from "../../api/statuses.ts";

export function addStatusCommand(program: Command, session: CliSession): void {
  program
    .command("status")
    .description("show where a run of any kind stands, or the newest of them")
    .argument("[run]", "a run: rent for its newest, rent/2026-11-26, or its id")
    .option("--bills", "with every bill, its dates and whom it waits for")
    .option("--needs-action", "only runs that wait for a person")
    .option("--kind <kind>", "only runs of this kind, such as pay-run")
    .option("--playbook <name>", "only runs of this playbook")
    .option("--phase <phase>", "only runs in this phase")
    .option("--page <number>", "a further page of the list")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        if (id !== undefined) {
          const runId = await findRunId(gateway, id);
          const path = `/v1/runs/${encodeURIComponent(runId)}`;
          const run = await gateway.get(path, AnyStatusBody);
          output.lines(statusLines(run));
          const isOver = run.kind === "pay-run" ? hasEnded(run) : run.waitingFor === null;
          if (!isOver) await noteNobodyWorks(gateway, output);
          if (run.kind !== "pay-run" && run.kind !== "retry-failed-payment") {
            output.document(run);
            return;
          }
          if (options.bills === true && run.kind === "pay-run" && !output.json) {
            const review = await gateway.review(run.id);
            output.line();
            for await (const { bills } of gateway.reviewPages(review))
              output.lines(billLines(bills));
          }
          await printRun(output, gateway, run);
          return;
        }
        await listRuns(gateway, output, options);
      }),
    );
}

interface ListOptions {
  readonly needsAction?: true | undefined;
  readonly kind?: string | undefined;
  readonly playbook?: string | undefined;
  readonly phase?: string | undefined;
  readonly page?: string | undefined;
}

/** Prints a page of the runs, with the holds that are on all of them and what is wrong besides. */
async function listRuns(
  gateway: GatewayClient,
  output: Output,
  options: ListOptions,
): Promise<void> {
  const { needsAction, kind, playbook, phase, page } = options;
  const asked = definedOnly({ kind, playbook, phase, page });
  const query = new URLSearchParams({
    ...asked,
    ...(needsAction === true ? { needsAction: "true" } : {}),
  });
  const [runs, { items: conditions }, holds] = await Promise.all([
    gateway.get(`/v1/runs?${query.toString()}`, RunListBody),
    gateway.get("/v1/conditions", ConditionListBody),
    widestHolds(gateway).catch((error: unknown) => {
      output.note(`Which holds are in force is unknown: ${errorReason(error)}`);
      return [];
    }),
  ]);
  output.lines(holds.map(stopLine));
  const rows = runs.items.map((run) => [
    run.publicId == null
      ? run.id
      : `${printable(run.publicId)} ${dim(printable(run.contactName ?? ""))}`.trim(),
    phaseText(shownPhase(run)),
    totalText(run),
    dim(
      run.planOnly === true
        ? "only planned"
        : (run.outcome ?? foundNothing(run) ?? printable(run.waitingFor ?? "")),
    ),
  ]);
  const columns = [
    { title: "Run" },
    { title: "Phase" },
    { title: "Total", align: "right" as const },
    { title: "Waits for" },
  ];
  output.lines(rows.length === 0 ? ["No runs."] : textTable(columns, rows));
  if (runs.nextPage !== null) {
    const shown = `${runs.items.length} of ${counted(runs.totalCount, "run")}`;
    output.note(`${shown}; the next: --page ${runs.nextPage}`);
  }
  for (const line of conditions.flatMap(conditionLines)) output.note(line);
  output.document(runs);
}

/** Returns the holds on everything and on whole accounts. */
async function widestHolds(gateway: GatewayClient) {
  const lists = ["all", "source"].map((scope) =>
    gateway.get(`/v1/holds?scope=${scope}`, HoldListBody),
  );
  return (await Promise.all(lists)).flatMap(({ items }) => items);
}

/** Returns an empty text if no bill is concerned, or none is any more. */
function totalText({ kind, totalCents }: { readonly kind: string; readonly totalCents: number }) {
  const isAboutMoney = totalCents !== 0 || kind === "pay-run" || isCancellation({ kind });
  return isAboutMoney ? formatUsd(totalCents) : "";
}

/** Describes a completed cancellation that concerned no money. */
function foundNothing({
  kind,
  phase,
  totalCents,
}: Readonly<Record<"kind" | "phase", string>> & { readonly totalCents: number }):
  | string
  | undefined {
  if (!isCancellation({ kind }) || phase !== "completed" || totalCents !== 0) return undefined;
  return kind === "hold" ? "found no bill to hold back" : "found no payment to cancel";
}
