import type { Command } from "@commander-js/extra-typings";

import { EXIT, reasonOf, usageError, CliError } from "../terminal/cli-error.ts";
import { gatewayOf, type GatewayClient, ofBusiness } from "../client/gateway-client.ts";
import { findEach } from "../client/names.ts";
import type { Session } from "../client/session.ts";
import { green, printable, red } from "../terminal/text.ts";
import type { Named } from "../../api/names.ts";
import { BulkResolutionBody, type Resolution, ResolutionBody } from "../../api/schemas.ts";

interface Outcome {
  readonly resolved: readonly Resolution[];
  readonly refused: readonly { readonly payableId: string; readonly message: string }[];
}

export function addResolveCommand(program: Command, session: Session): void {
  program
    .command("resolve")
    .description("say what becomes of parked bills")
    .argument("[bill...]", "bills: their numbers, ids, or a vendor's name where it leaves one bill")
    .option("--retry", "try again: the cause is gone")
    .option("--paid-elsewhere", "it was paid by other means; never pay it again")
    .option("--give-up", "don't pay it any more")
    .requiredOption("--reason <text>", "what was found out or done")
    .option("--reason-code <code>", "every bill parked for this reason, instead of ids")
    .option("--business <name>", "needed only where there are several")
    .option("--json", "print one JSON document")
    .action((payables, options) =>
      session.run(options, async ({ output, config }) => {
        const action = actionOf(options);
        const { reason, reasonCode } = options;
        if ((payables.length === 0) === (reasonCode === undefined)) {
          throw usageError("name either payables or --reason-code");
        }
        const business = options.business === undefined ? {} : { business: options.business };
        const gateway = gatewayOf(config());
        const outcome: Outcome =
          reasonCode === undefined
            ? await each(gateway, await named(gateway, payables, options.business), {
                action,
                reason,
              })
            : await inBulk(gateway, { reasonCode, action, reason, ...business });
        for (const resolution of outcome.resolved) {
          output.line(`${green("✓")} ${resolution.payableId}: ${resultOf(resolution)}`);
        }
        for (const { payableId, message } of outcome.refused) {
          output.line(`${red("✗")} ${payableId}: ${printable(message)}`);
        }
        if (outcome.resolved.length + outcome.refused.length === 0) {
          output.line("No bill is parked for that reason.");
        }
        output.document(outcome);
        return outcome.refused.length === 0 ? EXIT.done : EXIT.failed;
      }),
    );
}

function resultOf({ action, state, approvalEnded }: Resolution): string {
  if (action !== "retry") return state;
  if (approvalEnded === undefined) return "tried again";
  return `${printable(approvalEnded)} It is not tried again: the next run plans it and asks for a new approval`;
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
    throw usageError("say exactly one of --retry, --paid-elsewhere and --give-up");
  }
  return action;
}

/** As many requests as there are pages of such bills. */
async function inBulk(gateway: GatewayClient, body: object): Promise<Outcome> {
  const resolved: Resolution[] = [];
  const refused: { payableId: string; message: string }[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page: Outcome & { next: string | null } = await gateway.post(
      "/v1/resolutions",
      BulkResolutionBody,
      { ...body, ...(after === undefined ? {} : { after }) },
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
): Promise<Named[]> {
  return findEach(gateway, texts, { kind: "bill", business, likely: ["parked"] });
}

/** One refusal must not keep the other bills from being resolved. */
async function each(
  gateway: GatewayClient,
  bills: readonly Named[],
  body: object,
): Promise<Outcome> {
  const resolved: Resolution[] = [];
  const refused: { payableId: string; message: string }[] = [];
  for (const { id: payableId, business } of bills) {
    const path = `/v1/payables/${encodeURIComponent(payableId)}/resolution`;
    try {
      resolved.push(await gateway.post(ofBusiness(path, business), ResolutionBody, body));
    } catch (error) {
      const isRefusal = error instanceof CliError && error.exitCode !== EXIT.unavailable;
      if (!isRefusal || error.code === "unauthorized" || error.code === "forbidden") throw error;
      refused.push({ payableId, message: reasonOf(error) });
    }
  }
  return { resolved, refused };
}
