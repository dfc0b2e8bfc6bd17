import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { launchedCancellation } from "../show/cancellations.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { findScheduled } from "../client/names.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";

interface Options {
  readonly reason?: string | undefined;
  readonly business?: string | undefined;
  readonly wait?: true | undefined;
  readonly timeout: string;
}

export function addCancelScheduledCommand(program: Command, session: CliSession): void {
  program
    .command("cancel-scheduled")
    .description("cancel payments that the service has scheduled or holds; their bills go on hold")
    .argument("<payment...>", "payment ids, or a bill's number for all payments scheduled for it")
    .option("--reason <text>", "why; shown on the bill, at most 500 characters")
    .option("--business <name>", "needed only if there are several businesses")
    .option(
      "--wait",
      "wait until it ends: exit 0 if all are cancelled, 1 if not, 3 if it still waits",
    )
    .option("--timeout <duration>", "how long --wait waits", "10m")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((payments, options) =>
      session.run(options, (context) => cancelScheduled(context, payments, options)),
    );
}

async function cancelScheduled(
  { output, config }: CommandContext,
  payments: readonly string[],
  { reason, business, wait, timeout }: Options,
): Promise<ExitCode> {
  const limitMs = readDuration(timeout, "--timeout");
  const gateway = gatewayOf(config());
  const found = [];
  for (const text of payments) found.push(...(await findScheduled(gateway, text, business)));
  const owners = new Set(found.map((payment) => payment.business));
  if (owners.size > 1) {
    throw usageError(`the payments are of several businesses: ${[...owners].join(", ")}`);
  }
  const asked = await gateway.post("/v1/cancellations", CancellationStatusBody, {
    payments: found.map(({ id }) => id),
    ...definedOnly({ reason }),
    business: [...owners][0],
  });
  return launchedCancellation({ output, gateway }, asked, { wait: wait === true, limitMs });
}
