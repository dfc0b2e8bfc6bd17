import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { EXIT, errorReason, usageError, CliError } from "../terminal/cli-error.ts";
import { gatewayOf, type GatewayClient, ofBusiness } from "../client/gateway-client.ts";
import { findEachMeant } from "../client/names.ts";
import type { CliSession } from "../client/session.ts";
import type { NamedView } from "../../api/names.ts";
import { notTriedNowText } from "../../domain/retries/approval.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { shownAmount, centsInState, type LineInParts } from "../../domain/payments/line-parts.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { nameOf } from "../show/plan.ts";
import { agreed } from "../terminal/confirm.ts";
import { green, printable, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { ParkedBody } from "../../api/parked.ts";
import { BulkResolutionBody, type ResolutionView, ResolutionBody } from "../../api/schemas.ts";

interface Outcome {
  readonly resolved: readonly ResolutionView[];
  readonly refused: readonly Refused[];
}

interface Refused {
  readonly payableId: string;
  readonly message: string;
  readonly publicId: string | null;
  readonly contactName: string | null;
}

export function addResolveCommand(program: Command, session: CliSession): void {
  program
    .command("resolve")
    .description("say what happens to parked bills")
    .argument("[bill...]", "bills: their numbers, ids, or a vendor's name if it leaves one bill")
    .option("--retry", "try again: the cause is gone")
    .option("--paid-elsewhere", "it was paid by other means; never pay it again")
    .option("--give-up", "don't pay it any more")
    .requiredOption("--reason <text>", "what was found out or done")
    .option("--reason-code <code>", "every bill parked for this reason, instead of ids")
    .option("--business <name>", "needed only if there are several businesses")
    .option("-y, --yes", "do not ask; needed if there is no terminal")
    .option("--json", "print one JSON document")
    .action((payables, options) =>
      session.run(options, async ({ output, config }) => {
        const action = actionOf(options);
        const { reason, reasonCode } = options;
        if ((payables.length === 0) === (reasonCode === undefined)) {
          throw usageError("name either bills or --reason-code");
        }
        let known: Promise<readonly NamedView[]> | undefined;
        const found = () => (known ??= named(gatewayOf(config()), payables, options.business));
        const question = async (): Promise<string> => {
          const bills = reasonCode === undefined ? await found() : [];
          return `${QUESTIONS[action](whichBills(bills, reasonCode))}?`;
        };
        if (!(await agreed("resolve", { output, yes: options.yes }, question))) {
          output.note("Nothing was resolved.");
          return EXIT.failed;
        }
        const gateway = gatewayOf(config());
        const business = options.business === undefined ? {} : { business: options.business };
        const outcome: Outcome =
          reasonCode === undefined
            ? await each(gateway, await found(), { action, reason })
            : await inBulk(gateway, { reasonCode, action, reason, ...business });
        for (const resolution of outcome.resolved) {
          const amount = shownAmount(asParked(resolution));
          output.line(`${green("✓")} ${nameOf(resolution)}, ${amount}: ${resultOf(resolution)}`);
        }
        for (const { message, ...bill } of outcome.refused) {
          output.line(`${red("✗")} ${nameOf(bill)}: ${printable(message)}`);
        }
        if (reasonCode !== undefined && outcome.resolved.length + outcome.refused.length === 0) {
          throw await noneParkedFor(gateway, reasonCode, options.business);
        }
        output.lines(summaryLines(outcome.resolved));
        if (action === "retry") await noteNobodyWorks(gateway, output);
        output.document(outcome);
        return outcome.refused.length === 0 ? EXIT.done : EXIT.failed;
      }),
    );
}

const QUESTIONS = {
  retry: (which: string) =>
    `Try ${which} again; what is owed goes out if its approval still stands`,
  "paid-elsewhere": (which: string) => `Mark ${which} as paid elsewhere, never to be paid again`,
  "give-up": (which: string) => `Give ${which} up, never to be paid`,
} as const;

function whichBills(bills: readonly NamedView[], reasonCode: string | undefined): string {
  if (reasonCode !== undefined) return `every bill that is parked for ${reasonCode}`;
  const [{ number, id } = { number: null, id: "" }, ...others] = bills;
  const which = others.length === 0 ? printable(number ?? id) : counted(bills.length, "bill");
  const lines = bills.map(({ amountCents, parts }) => asParked({ amountCents, parts }));
  const [open, all] = [lines.map(centsInState), lines.map((line) => line.amountCents)].map(
    sumCents,
  );
  if (open === undefined || all === undefined) return which;
  return `${which}, ${formatUsd(open)}${open === all ? "" : ` of ${formatUsd(all)}`},`;
}

/** A decision is about the open part of a bill. */
function asParked({
  amountCents,
  parts,
}: {
  readonly amountCents: number | null;
  readonly parts?: LineInParts["parts"];
}): LineInParts {
  return { state: "parked", amountCents: amountCents ?? 0, parts };
}

/** Summarizes what goes out as a result: the number of bills and the sum. */
function summaryLines(resolved: readonly ResolutionView[]): string[] {
  const retried = resolved.filter(
    ({ action, approvalEnded, onHold }) =>
      action === "retry" && approvalEnded === undefined && onHold === undefined,
  );
  if (retried.length === 0) return [];
  const sum = sumCents(retried.map(asParked).map(centsInState));
  const goes = retried.length === 1 ? "is" : "are";
  return [`${counted(retried.length, "bill")}, ${formatUsd(sum)}, ${goes} tried again.`];
}

function resultOf({ action, state, approvalEnded, onHold }: ResolutionView): string {
  if (action !== "retry") return state;
  return printable(notTriedNowText({ approvalEnded, onHold }) ?? "tried again");
}

function actionOf(options: {
  readonly retry?: true | undefined;
  readonly paidElsewhere?: true | undefined;
  readonly giveUp?: true | undefined;
}): "retry" | "paid-elsewhere" | "give-up" {
  const chosen = [
    ...(options.retry === true ? (["retry"] as const) : []),
    ...(options.paidElsewhere === true ? (["paid-elsewhere"] as const) : []),
    ...(options.giveUp === true ? (["give-up"] as const) : []),
  ];
  const [action] = chosen;
  if (action === undefined || chosen.length > 1) {
    throw usageError("give exactly one of --retry, --paid-elsewhere and --give-up");
  }
  return action;
}

/** A reason that no bill is parked for was mistyped, or another person was faster. */
async function noneParkedFor(
  gateway: GatewayClient,
  reasonCode: string,
  business: string | undefined,
): Promise<CliError> {
  const path = ofBusiness("/v1/payables?state=parked", business);
  const { items, nextPage } = await gateway.get(path, ParkedBody);
  const codes = [...new Set(items.flatMap((bill) => bill.reasonCode ?? []))];
  return usageError(
    `no bill is parked for ${reasonCode}`,
    codes.length === 0
      ? "No bill is parked."
      : `Bills are parked for ${codes.join(", ")}${nextPage === null ? "" : " and others"}.`,
  );
}

/** Sends one request for each page of such bills. */
async function inBulk(gateway: GatewayClient, body: object): Promise<Outcome> {
  const resolved: ResolutionView[] = [];
  const refused: Refused[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page: Outcome & { next: string | null } = await gateway.post(
      "/v1/resolutions",
      BulkResolutionBody,
      { ...body, ...definedOnly({ after }) },
    );
    resolved.push(...page.resolved);
    refused.push(...page.refused);
    after = page.next;
  }
  return { resolved, refused };
}

function named(
  gateway: GatewayClient,
  texts: readonly string[],
  business: string | undefined,
): Promise<NamedView[]> {
  return findEachMeant(gateway, texts, { kind: "bill", business, likely: ["parked"] });
}

/**
 * True if the refusal may concern one bill only: the roles that may resolve it depend on its
 * failure.
 */
function isOfOne(error: unknown, bills: number): boolean {
  if (!(error instanceof CliError) || error.exitCode === EXIT.unavailable) return false;
  return error.code !== "unauthorized" && (error.code !== "forbidden" || bills > 1);
}

/** One refusal must not prevent the other bills from being resolved. */
async function each(
  gateway: GatewayClient,
  bills: readonly NamedView[],
  body: object,
): Promise<Outcome> {
  const resolved: ResolutionView[] = [];
  const refused: Refused[] = [];
  for (const { id: payableId, number: publicId, name: contactName, business } of bills) {
    const path = `/v1/payables/${encodeURIComponent(payableId)}/resolution`;
    try {
      resolved.push(await gateway.post(ofBusiness(path, business), ResolutionBody, body));
    } catch (error) {
      // Once one bill is resolved, the outcome is reported, whatever happens to the remaining
      // bills.
      if (!isOfOne(error, bills.length)) {
        if (resolved.length === 0) throw error;
        const why = `not known, and the bills after it were left as they were: ${errorReason(error)}`;
        refused.push({ payableId, publicId, contactName, message: why });
        break;
      }
      refused.push({ payableId, publicId, contactName, message: errorReason(error) });
    }
  }
  return { resolved, refused };
}
