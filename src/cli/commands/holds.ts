import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { ENDED_BY_PERSON, HOLD_SCOPE, HOLD_SCOPES, isSetByPayrun } from "../../domain/holds.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { readDuration } from "../terminal/duration.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { findMeant } from "../client/names.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { dim, green, printable, textTable, yellow } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { goesOutLines, heldLines, heldName } from "../show/holds.ts";
import { agreed, YES_UNASKED } from "../terminal/confirm.ts";
import { type HoldView, HoldBody, HoldListBody, ReleaseBody } from "../../api/holds.ts";

export function addHoldCommand(program: Command, session: CliSession): void {
  program
    .command("hold")
    .description("keep something from being paid until it is released")
    .argument("[bill]", "a bill's number or id, or its vendor's name if that leaves one bill")
    .option("--contact <vendor>", "every bill of a vendor, by name or id")
    .option("--source <account>", "everything paid from a funding account: name, last four or id")
    .option("--run <run>", "a run: rent, rent/2026-11-26 or its id")
    .option("--playbook <name>", "every run of a playbook")
    .option("--all", "everything")
    .requiredOption("--reason <text>", "why, for anyone who sees it")
    .option("--until <date>", "when it ends by itself: YYYY-MM-DD, an instant, or 12h, 3d from now")
    .option("--business <name>", "needed only if there are several businesses")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((payable, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const hold = await gateway.post("/v1/holds", HoldBody, {
          ...(await targetNamed(gateway, payable, options)),
          reason: options.reason,
          ...(options.until === undefined ? {} : { until: untilText(options.until) }),
        });
        output.line(`${green("✓")} on hold: ${heldName(hold)}  ${dim(hold.id)}`);
        if (hold.holds !== undefined) output.lines(heldLines(hold.holds));
        if (hold.note !== undefined)
          output.line(`${printable(hold.note)} ${takenBack(hold)}`.trim());
        const ends = hold.until === null ? "" : `it ends ${spokenTime(hold.until, hold.zone)}; `;
        output.line(dim(`${ends}payrun release ${hold.id} lifts it`));
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

/** Returns exactly one thing to hold, with its business. */
async function targetNamed(
  gateway: GatewayClient,
  bill: string | undefined,
  { contact, source, run, playbook, all, business }: Targets,
): Promise<object> {
  const named = { payable: bill, contact, source, run, playbook, all };
  const said = HOLD_SCOPES.flatMap((scope) => {
    const text = named[scope];
    return text === undefined ? [] : [{ ...HOLD_SCOPE[scope], text }];
  });
  const [only] = said;
  if (only === undefined || said.length > 1) {
    throw usageError(
      "name exactly one thing to hold",
      "A bill, --contact, --source, --run, --playbook or --all.",
    );
  }
  const { field, kind, text } = only;
  if (kind === null || text === true) {
    return { [field]: true, ...definedOnly({ business }) };
  }
  const otherwise = "Name a bill by its number; --contact holds every bill of a vendor.";
  const hint = kind === "bill" ? { otherwise } : {};
  const thing = await findMeant(gateway, { kind, text, business, ...hint });
  return { [field]: thing.id, business: thing.business };
}

/**
 * Returns a date or an instant unchanged; converts `3d` to a duration that the gateway reads on the
 * business clock.
 */
function untilText(text: string): string {
  return /^\d+\s*[a-z]$/.test(text.trim())
    ? `PT${readDuration(text, "--until") / 1000}S`
    : text.trim();
}

/**
 * Returns the command that cancels what a hold came too late for, and who may run it; empty if
 * there is nothing to cancel.
 */
function takenBack({ scope, value, number, name, holds }: HoldView): string {
  if (holds === undefined) return "";
  const late = holds.recallable.bills + holds.underWay.bills;
  if (late === 0) return "";
  const gone = holds.gone.bills;
  const what = gone > 0 ? `${late} of the ${late + gone}` : late === 1 ? "it" : "them";
  const back = `takes ${what} back`;
  const reason = "--reason …";
  switch (scope) {
    case "payable":
      return `payrun cancel-scheduled ${shellWord(number ?? value)} ${reason} takes it back; only an operator or an administrator may.`;
    case "contact":
      return `payrun stop --contact ${shellWord(name ?? value)} --cancel-scheduled ${reason} ${back}.`;
    case "source":
    case "run":
      return `payrun stop --${scope} ${shellWord(value)} --cancel-scheduled ${reason} ${back}.`;
    case "all":
      return `payrun stop --cancel-scheduled ${reason} ${back}.`;
    case "playbook":
      return `payrun stop --cancel-scheduled ${reason} ${back}, with what other playbooks have there.`;
  }
}

export function addReleaseCommand(program: Command, session: CliSession): void {
  program
    .command("release")
    .description("lift a hold, or all that one person has set")
    .argument("[hold]", "the hold's id, or what it is on: a bill's number, a vendor's name")
    .option("--all", "every hold that the person in --by has set and that you may lift")
    .option("--by <who>", "who has set them, also by asking for a cancel")
    .option("--business <name>", "needed only if several businesses have such a hold")
    .option("-y, --yes", "do not ask; --all needs it if there is no terminal")
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async (context) => {
        const { all, by, business, yes } = options;
        if (all === true && by !== undefined && text === undefined) {
          return releaseAll(context, { by, business, yes });
        }
        if (text === undefined || all === true || by !== undefined) {
          throw usageError("name one hold, or use --all --by WHO", "payrun holds lists them.");
        }
        const { output, config } = context;
        const gateway = gatewayOf(config());
        const { id } = await findMeant(gateway, { kind: "hold", text, business });
        const path = `/v1/holds/${encodeURIComponent(id)}`;
        const hold = await gateway.delete(path, HoldBody);
        output.line(`${green("✓")} released: ${heldName(hold)}`);
        if (hold.goesOut !== undefined) output.lines(goesOutLines(hold.goesOut, true));
        const others = hold.stillOnHoldBy ?? [];
        if (others.length > 0) {
          output.line(`${yellow("–")} everything is still on hold: ${others.join(", ")}`);
        }
        for (const other of await alsoInForce(gateway, hold)) {
          output.line(`${yellow("–")} still on hold: ${heldName(other)}  ${dim(other.id)}`);
        }
        if (hold.ended !== undefined) {
          output.line(`${yellow("–")} ${ENDED_BY_PERSON[hold.ended]}: the next run may pay it`);
          output.line(
            `payrun hold ${shellWord(hold.number ?? hold.value)} --reason … puts it on hold again`,
          );
        }
        await noteNobodyWorks(gateway, output);
        output.document(hold);
        return EXIT.done;
      }),
    );
}

/**
 * Returns the other holds that are on the same bills: on the same thing, on its vendor, or on
 * the vendor's bills.
 */
async function alsoInForce(gateway: GatewayClient, lifted: HoldView): Promise<HoldView[]> {
  const { scope, value, name, business } = lifted;
  // The response already lists the holds on everything.
  if (scope === "all") return [];
  const isOfVendor = (hold: HoldView): boolean =>
    name !== null &&
    hold.name === name &&
    ((scope === "contact" && hold.scope === "payable") ||
      (scope === "payable" && hold.scope === "contact"));
  return (await allHolds(gateway)).filter(
    (hold) =>
      hold.business === business &&
      ((hold.scope === scope && hold.value === value) || isOfVendor(hold)),
  );
}

async function releaseAll(
  { output, config }: CommandContext,
  { by, business, yes }: { by: string; business: string | undefined; yes: true | undefined },
): Promise<ExitCode> {
  const gateway = gatewayOf(config());
  const of = { by, ...definedOnly({ business }) };
  let looked: { readonly hash?: string } = {};
  const question = async (): Promise<string> => {
    const query = new URLSearchParams(of);
    const preview = await gateway.get(`/v1/releases?${query.toString()}`, ReleaseBody);
    looked = { hash: preview.hash };
    output.lines(preview.released.map((hold) => `  ${heldName(hold)}  ${dim(hold.id)}`));
    if (preview.released.length > 0) output.lines(goesOutLines(preview.goesOut, false));
    return `Release ${counted(preview.released.length, "hold")} of ${by}?`;
  };
  if (!(await agreed("release --all", { output, yes }, question))) {
    output.note("Nothing was released.");
    return EXIT.failed;
  }
  const done = await gateway.post("/v1/releases", ReleaseBody, { ...of, ...looked });
  for (const hold of done.released) {
    output.line(`${green("✓")} released: ${heldName(hold)}  ${dim(hold.id)}`);
  }
  for (const { hold, roles, ended } of done.kept) {
    const why =
      ended === undefined
        ? `only ${roles.join(" or ")} may lift it  ${dim(hold.id)}`
        : `${ENDED_BY_PERSON[ended]}; payrun release ${hold.id} lifts it by itself`;
    output.line(`${yellow("–")} kept: ${heldName(hold)}: ${why}`);
  }
  // If nothing was released, nothing can go out.
  if (done.released.length > 0) {
    output.lines(goesOutLines(done.goesOut, true));
    await noteNobodyWorks(gateway, output);
  }
  output.document(done);
  return EXIT.done;
}

export function addHoldsCommand(program: Command, session: CliSession): void {
  program
    .command("holds")
    .description("list the holds that are in force")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const items = await allHolds(gatewayOf(config()));
        const rows = items.map((hold) => [
          heldName(hold),
          isSetByPayrun(hold) ? "payrun" : printable(hold.author),
          hold.until === null ? "until released" : spokenTime(hold.until, hold.zone),
          printable(hold.reason),
          dim(hold.id),
        ]);
        const columns = ["On hold", "By", "Until", "Reason", "Hold"].map((title) => ({ title }));
        output.lines(rows.length === 0 ? ["Nothing is on hold."] : textTable(columns, rows));
        output.document({ items });
      }),
    );
}

async function allHolds(gateway: GatewayClient): Promise<HoldView[]> {
  const items: HoldView[] = [];
  for (let page: number | null = 1; page !== null;) {
    const holds: { items: readonly HoldView[]; nextPage: number | null } = await gateway.get(
      `/v1/holds?page=${page}`,
      HoldListBody,
    );
    items.push(...holds.items);
    page = holds.nextPage;
  }
  return items;
}
