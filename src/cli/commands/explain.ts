import type { Command } from "@commander-js/extra-typings";

import { formatUsd } from "../../domain/money.ts";
import { gatewayOf } from "../gateway-client.ts";
import type { PayableHistory } from "../gateway-shapes.ts";
import type { Session } from "../session.ts";
import { bold, dim, printable, table } from "../text.ts";

export function addExplainCommand(program: Command, session: Session): void {
  program
    .command("explain")
    .description("tell everything that happened to a bill")
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

function historyLines(history: PayableHistory): string[] {
  const timeline = history.timeline.map(({ at, kind, text, by }) => [
    dim(at.slice(0, 19).replace("T", " ")),
    kind,
    printable(text) + (by === undefined ? "" : dim(`  ${printable(by)}`)),
  ]);
  const attempts = history.attempts.map((attempt) => [
    `attempt ${attempt.seq}`,
    formatUsd(attempt.amountCents),
    attempt.state,
    `sent ${attempt.sends.length}×: ${attempt.sends.map(({ result }) => result).join(", ")}`,
    attempt.paymentIds.join(" "),
    dim(`key ${attempt.idempotencyKey}`),
  ]);
  const facts = [
    history.state ?? "in no run's plan",
    ...(history.reason === null ? [] : [printable(history.reason)]),
    ...(history.owner === null ? [] : [`owned by ${history.owner}`]),
  ];
  return [
    `${bold(history.payableId)}  ${facts.join(" · ")}`,
    ...table([{}, {}, {}], timeline),
    ...table([{}, { align: "right" }, {}, {}, {}, {}], attempts),
    ...history.holds.map(({ id, reason }) => `on hold: ${printable(reason)} ${dim(id)}`),
  ];
}
