import type { Command } from "@commander-js/extra-typings";

import { spokenTime } from "../../domain/clock/spoken.ts";
import { usageError } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { findOne } from "../client/names.ts";
import type { Session } from "../client/session.ts";
import { dim, green, printable, table } from "../terminal/text.ts";
import { type Hold, HoldBody, HoldListBody } from "../../api/schemas.ts";

export function addHoldCommand(program: Command, session: Session): void {
  program
    .command("hold")
    .description("keep something from being paid until it is released")
    .argument("[bill]", "a bill's number or id, or its vendor's name where that leaves one bill")
    .option("--contact <vendor>", "every bill of a vendor, by name or id")
    .option("--source <account>", "everything paid from a funding account: name, last four or id")
    .option("--run <run>", "a run: rent, rent/2026-11-26 or its id")
    .option("--playbook <name>", "every run of a playbook")
    .option("--all", "everything")
    .requiredOption("--reason <text>", "why, for whoever finds it")
    .option("--until <date>", "it ends by itself then: YYYY-MM-DD, an instant, or 12h, 3d from now")
    .option("--business <name>", "needed only where there are several")
    .option("--json", "print one JSON document")
    .action((payable, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const hold = await gateway.post("/v1/holds", HoldBody, {
          ...(await targetNamed(gateway, payable, options)),
          reason: options.reason,
          ...(options.until === undefined ? {} : { until: untilText(options.until) }),
        });
        output.line(`${green("✓")} on hold: ${targetOf(hold)}  ${dim(hold.id)}`);
        if (hold.note !== undefined) output.line(printable(hold.note));
        output.line(dim(`payrun release ${hold.id} lifts it`));
        output.document(hold);
      }),
    );
}

interface Targets {
  readonly contact?: string | undefined;
  readonly source?: string | undefined;
  readonly run?: string | undefined;
  readonly playbook?: string | undefined;
  readonly all?: true | undefined;
  readonly business?: string | undefined;
}

/** Exactly one thing to hold, with the business that has it. */
async function targetNamed(
  gateway: GatewayClient,
  bill: string | undefined,
  { contact, source, run, playbook, all, business }: Targets,
): Promise<object> {
  const otherwise = "Name a bill by its number; --contact holds every bill of a vendor.";
  const named = [
    { field: "payableId", kind: "bill", text: bill },
    { field: "contactId", kind: "vendor", text: contact },
    { field: "source", kind: "account", text: source },
    { field: "run", kind: "run", text: run },
    { field: "playbook", kind: "playbook", text: playbook },
  ] as const;
  const said = named.flatMap(({ text, ...each }) =>
    text === undefined ? [] : [{ ...each, text }],
  );
  const [only] = said;
  if (said.length + (all === true ? 1 : 0) !== 1) {
    throw usageError(
      "say exactly one thing to hold",
      "A bill, --contact, --source, --run, --playbook or --all.",
    );
  }
  if (only === undefined) return { all: true, ...(business === undefined ? {} : { business }) };
  const { field, kind, text } = only;
  const thing = await findOne(gateway, { kind, text, business, otherwise });
  return { [field]: thing.id, business: thing.business };
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
    .argument("<hold>", "the hold's id, or what it is on: a bill's number, a vendor's name")
    .option("--business <name>", "needed only where several have such a hold")
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const { business } = options;
        const { id } = await findOne(gateway, { kind: "hold", text, business });
        const path = `/v1/holds/${encodeURIComponent(id)}`;
        const hold = await gateway.delete(path, HoldBody);
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
          hold.until === null ? "until released" : spokenTime(hold.until),
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
