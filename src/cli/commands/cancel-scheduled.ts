import type { Command } from "@commander-js/extra-typings";

import { launchedCancellation } from "../show/cancellations.ts";
import type { ExitCode } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import type { CommandContext, Session } from "../client/session.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";

interface Options {
  readonly reason?: string | undefined;
  readonly business?: string | undefined;
  readonly wait?: true | undefined;
  readonly timeout: string;
}

export function addCancelScheduledCommand(program: Command, session: Session): void {
  program
    .command("cancel-scheduled")
    .description("cancel payments that the service has scheduled or holds; their bills go on hold")
    .argument("<payment...>", "payment ids")
    .option("--reason <text>", "why; shown on the bill, at most 500 characters")
    .option("--business <name>", "needed only where there are several")
    .option("--wait", "wait until it ends: exit 0 all cancelled, 1 otherwise, 3 it still waits")
    .option("--timeout <duration>", "how long --wait waits", "10m")
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
  const asked = await gateway.post("/v1/cancellations", CancellationStatusBody, {
    payments,
    ...(reason === undefined ? {} : { reason }),
    ...(business === undefined ? {} : { business }),
  });
  return launchedCancellation({ output, gateway }, asked, { wait: wait === true, limitMs });
}
