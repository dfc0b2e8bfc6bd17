import type { Command } from "@commander-js/extra-typings";

import { usageError } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import type { Session } from "../client/session.ts";
import { dim, green, printable, table } from "../terminal/text.ts";
import { type Hold, HoldBody, HoldListBody } from "../../api/schemas.ts";

export function addHoldCommand(program: Command, session: Session): void {
  program
    .command("hold")
    .description("keep something from being paid until it is released")
    .argument("[payable]", "a payable's id")
    .option("--contact <id>", "every bill of a vendor")
    .option("--source <id>", "everything paid from a funding source")
    .option("--run <id>", "a run")
    .option("--playbook <name>", "every run of a playbook")
    .option("--all", "everything")
    .requiredOption("--reason <text>", "why, for whoever finds it")
    .option("--until <date>", "it ends by itself then: YYYY-MM-DD, an instant, or 12h, 3d from now")
    .option("--business <name>", "needed only where there are several")
    .option("--json", "print one JSON document")
    .action((payable, options) =>
      session.run(options, async ({ output, config }) => {
        const targets = {
          ...(payable === undefined ? {} : { payableId: payable }),
          ...(options.contact === undefined ? {} : { contactId: options.contact }),
          ...(options.source === undefined ? {} : { source: options.source }),
          ...(options.run === undefined ? {} : { run: options.run }),
          ...(options.playbook === undefined ? {} : { playbook: options.playbook }),
          ...(options.all === undefined ? {} : { all: true }),
        };
        if (Object.keys(targets).length !== 1) {
          throw usageError(
            "say exactly one thing to hold",
            "A payable's id, --contact, --source, --run, --playbook or --all.",
          );
        }
        const hold = await gatewayOf(config()).post("/v1/holds", HoldBody, {
          ...targets,
          reason: options.reason,
          ...(options.until === undefined ? {} : { until: untilText(options.until) }),
          ...(options.business === undefined ? {} : { business: options.business }),
        });
        output.line(`${green("✓")} on hold: ${targetOf(hold)}  ${dim(hold.id)}`);
        if (hold.note !== undefined) output.line(printable(hold.note));
        output.line(dim(`payrun release ${hold.id} lifts it`));
        output.document(hold);
      }),
    );
}

/** A date or an instant as it is; `3d` as the gateway reads durations, on the business clock. */
function untilText(text: string): string {
  return /^\d+\s*[a-z]$/.test(text.trim())
    ? `PT${readDuration(text, "--until") / 1000}S`
    : text.trim();
}

export function addReleaseCommand(program: Command, session: Session): void {
  program
    .command("release")
    .description("lift a hold")
    .argument("<hold>", "the hold's id")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const path = `/v1/holds/${encodeURIComponent(id)}`;
        const hold = await gatewayOf(config()).delete(path, HoldBody);
        output.line(`${green("✓")} released: ${targetOf(hold)}`);
        output.document(hold);
      }),
    );
}

export function addHoldsCommand(program: Command, session: Session): void {
  program
    .command("holds")
    .description("list the holds that are in force")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const items = await allHolds(gatewayOf(config()));
        const rows = items.map((hold) => [
          hold.id,
          targetOf(hold),
          printable(hold.author),
          hold.until?.slice(0, 10) ?? "until released",
          printable(hold.reason),
        ]);
        const columns = ["Hold", "Of", "By", "Until", "Reason"].map((title) => ({ title }));
        output.lines(rows.length === 0 ? ["Nothing is on hold."] : table(columns, rows));
        output.document({ items });
      }),
    );
}

async function allHolds(gateway: GatewayClient): Promise<Hold[]> {
  const items: Hold[] = [];
  for (let page: number | null = 1; page !== null;) {
    const holds: { items: readonly Hold[]; nextPage: number | null } = await gateway.get(
      `/v1/holds?page=${page}`,
      HoldListBody,
    );
    items.push(...holds.items);
    page = holds.nextPage;
  }
  return items;
}

function targetOf({ scope, value }: Hold): string {
  return scope === "all" ? "everything" : `${scope} ${printable(value)}`;
}
