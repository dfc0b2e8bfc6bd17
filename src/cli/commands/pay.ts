import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import type { RunStatus } from "../../api/runs.ts";
import { readMoney } from "../../playbooks/texts.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { gatewayOf, type GatewayClient } from "../client/gateway-client.ts";
import { findEachMeant } from "../client/names.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { nextCommands } from "../show/plan.ts";
import { hasEnded, runLines } from "../show/run.ts";
import { dim, yellow } from "../terminal/text.ts";
import { pollUntil } from "../show/wait-for-run.ts";
import { RunStatusBody } from "../../api/runs.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";

interface PayOptions {
  readonly amount?: string | undefined;
  readonly playbook?: string | undefined;
  readonly business?: string | undefined;
  readonly ref?: string | undefined;
}

export function addPayCommand(program: Command, session: CliSession): void {
  program
    .command("pay")
    .description("pay bills off-cycle, under a playbook's approvals, limits and holds")
    .argument("<bill...>", "bills: their numbers, ids, or a vendor's name if it leaves one bill")
    .option("--amount <money>", "pay only this much of the one bill, such as $50 or 50.00")
    .option("--playbook <name>", "whose policy applies, if several pay-run playbooks are stored")
    .option("--business <name>", "needed only if several businesses have such a playbook")
    .option(
      "--ref <text>",
      "makes a second payment, like another one of the same day, a payment of its own",
    )
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((payables, options) =>
      session.run(options, (context) => pay(context, payables, options)),
    );
}

async function pay(
  { output, config }: CommandContext,
  payables: readonly string[],
  { amount, playbook, business, ref }: PayOptions,
): Promise<ExitCode> {
  const amountCents = amount === undefined ? undefined : readAmount(amount);
  if (amountCents !== undefined && payables.length > 1) {
    throw usageError("--amount is for one bill: name a single one");
  }
  const gateway = gatewayOf(config());
  const bills = await findEachMeant(gateway, payables, { kind: "bill", business });
  const owners = new Set(bills.map((bill) => bill.business));
  if (owners.size > 1)
    throw usageError(`the bills are of several businesses: ${[...owners].join(", ")}`);
  const asked = await gateway.post("/v1/off-cycle", RunStatusBody, {
    payables: bills.map(({ id }) => id),
    ...definedOnly({ amountCents, playbook }),
    business: [...owners][0],
    ...definedOnly({ ref }),
  });
  const isNews = asked.phase === "planning";
  const run = isNews ? await planned(gateway, asked) : asked;
  output.lines(runLines(run));
  if (!isNews)
    output.line(dim("The same was already asked for today: --ref TEXT asks for it again."));
  const paysNothing = run.plan !== undefined && run.plan.lineCount === 0;
  if (paysNothing) output.line(yellow("Nothing is paid: every bill was left out."));
  if (!hasEnded(run)) {
    output.line(nextCommands(run, config().home));
  }
  output.document(run);
  return paysNothing || run.phase === "failed" ? EXIT.failed : EXIT.done;
}

/**
 * The longest wait for a plan of named bills, which usually takes a moment; a slower run continues
 * without the CLI.
 */
const PLAN_LIMIT_MS = 30_000;

async function planned(gateway: GatewayClient, { id }: RunStatus): Promise<RunStatus> {
  return pollUntil(() => gateway.wholeRun(id), {
    until: (run) => hasEnded(run) || (run.plan !== undefined && run.phase !== "planning"),
    limitMs: PLAN_LIMIT_MS,
  });
}

function readAmount(text: string): number {
  const reading = readMoney(text.startsWith("$") ? text : `$${text}`);
  if (reading.ok && reading.value > 0) return reading.value;
  const why = /fractions/.test(reading.ok ? "" : reading.fault.message) ? ", to the cent" : "";
  throw usageError(`--amount must be an amount such as $50 or 50.00${why}, not “${text}”`);
}
