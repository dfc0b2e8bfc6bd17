import type { Command } from "@commander-js/extra-typings";

import { formatUsd } from "../../domain/money.ts";
import { readMoney } from "../../playbooks/texts.ts";
import { EXIT, type ExitCode, usageError } from "../cli-error.ts";
import { gatewayOf } from "../gateway-client.ts";
import { runStatus } from "../gateway-shapes.ts";
import type { CommandContext, Session } from "../session.ts";
import { count, dim, green } from "../text.ts";

interface PayOptions {
  readonly amount?: string | undefined;
  readonly playbook?: string | undefined;
  readonly ref?: string | undefined;
}

export function addPayCommand(program: Command, session: Session): void {
  program
    .command("pay")
    .description("pay bills off-cycle, under a playbook's approvals, limits and holds")
    .argument("<payable...>", "payable ids")
    .option("--amount <money>", "pay only this much of the one bill, such as $50 or 50.00")
    .option("--playbook <name>", "whose policy holds, where several pay-run playbooks are stored")
    .option("--ref <text>", "tells two payments of one day apart that are alike")
    .option("--json", "print one JSON document")
    .action((payables, options) =>
      session.run(options, (context) => pay(context, payables, options)),
    );
}

async function pay(
  { output, config }: CommandContext,
  payables: readonly string[],
  { amount, playbook, ref }: PayOptions,
): Promise<ExitCode> {
  const amountCents = amount === undefined ? undefined : readAmount(amount);
  if (amountCents !== undefined && payables.length > 1) {
    throw usageError("--amount is for one bill: name a single payable");
  }
  const run = await gatewayOf(config()).post("/v1/off-cycle", runStatus, {
    payables,
    ...(amountCents === undefined ? {} : { amountCents }),
    ...(playbook === undefined ? {} : { playbook }),
    ...(ref === undefined ? {} : { ref }),
  });
  const what = amountCents === undefined ? count(payables.length, "bill") : formatUsd(amountCents);
  output.line(`${green("✓")} ${run.id} (${what}, ${run.phase})`);
  output.line(dim(`payrun status ${run.id} · payrun approve ${run.id}`));
  output.document(run);
  return EXIT.done;
}

function readAmount(text: string): number {
  const reading = readMoney(text.startsWith("$") ? text : `$${text}`);
  if (reading.ok && reading.value > 0) return reading.value;
  throw usageError(`--amount must be an amount such as $50 or 50.00, not “${text}”`);
}
