import type { Command } from "@commander-js/extra-typings";

import { type HoldView, StopBody, StopPreviewBody } from "../../api/holds.ts";
import { usageError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { agreed } from "../terminal/confirm.ts";
import { readDuration } from "../terminal/duration.ts";
import { dim, green } from "../terminal/text.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { gatewayOf, type GatewayClient } from "../client/gateway-client.ts";
import { findMeant } from "../client/names.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import {
  cancellationLines,
  cancellationExitCode,
  pollCancellation,
} from "../show/cancellations.ts";
import { heldLines, heldName } from "../show/holds.ts";

interface StopOptions {
  readonly run?: string | undefined;
  readonly source?: string | undefined;
  readonly contact?: string | undefined;
  readonly cancelScheduled?: true | undefined;
  readonly reason: string;
  readonly business?: string | undefined;
  readonly timeout: string;
  readonly yes?: true | undefined;
}

export function addStopCommand(program: Command, session: CliSession): void {
  program
    .command("stop")
    .description("keep everything from being paid, and show what can still be taken back")
    .option("--run <run>", "only a run: rent, rent/2026-11-26 or its id")
    .option("--source <account>", "only what is paid from an account: name, last four or id")
    .option("--contact <vendor>", "only the bills of a vendor, by name or id")
    .option("--cancel-scheduled", "cancel what the service has already, as far as it can")
    .requiredOption("--reason <text>", "why, for anyone who sees it")
    .option("--business <name>", "needed only if there are several businesses")
    .option("--timeout <duration>", "how long to follow the cancellations", "10m")
    .option("-y, --yes", "do not ask; needed if there is no terminal")
    .option("--json", "print one JSON document")
    .action((options) => session.run(options, (context) => stop(context, options)));
}

async function stop({ output, config }: CommandContext, options: StopOptions): Promise<ExitCode> {
  const { reason, cancelScheduled = false, yes } = options;
  const limitMs = readDuration(options.timeout, "--timeout");
  const gateway = gatewayOf(config());
  const target = await targetNamed(gateway, options);
  const question = async (): Promise<string> => {
    const query = new URLSearchParams(target);
    const { holds } = await gateway.get(`/v1/stops?${query.toString()}`, StopPreviewBody);
    output.lines(heldLines(holds));
    return cancelScheduled ? "Stop this, and cancel what can still be cancelled?" : "Stop this?";
  };
  if (!(await agreed("stop", { output, yes }, question))) {
    output.note("Nothing was stopped.");
    return EXIT.failed;
  }
  const isAll = Object.keys(target).every((field) => field === "business");
  const wanted = { ...target, ...(isAll ? { all: true } : {}), reason, cancelScheduled };
  const stopped = await gateway.post("/v1/stops", StopBody, wanted);
  const { hold, holds, cancellation } = stopped;
  output.line(`${green("✓")} stopped: ${heldName(hold)}  ${dim(hold.id)}`);
  output.lines(heldLines(holds));
  if (cancellation === null) {
    if (holds.recallable.bills + holds.underWay.bills > 0) {
      output.line(`${again(options)} takes back what can still be cancelled`);
    }
    output.line(dim(liftedBy(hold)));
    output.document(stopped);
    return EXIT.done;
  }
  const now = await pollCancellation(gateway, cancellation.id, {
    limitMs,
    changed: (line) => output.note(dim(line)),
  });
  output.line();
  output.lines(cancellationLines(now));
  output.line(dim(cancelledStays(hold) ?? liftedBy(hold)));
  output.document({ ...stopped, cancellation: now });
  return cancellationExitCode(now);
}

function liftedBy({ id, author }: HoldView): string {
  return `payrun release ${id} lifts it, payrun release --all --by ${shellWord(author)} every hold of ${author}`;
}

/**
 * Another run could pay the bills whose payments were cancelled with a run or an account, so each
 * of these bills is put on hold as well.
 */
function cancelledStays({ scope, author }: HoldView): string | undefined {
  if (scope !== "run" && scope !== "source") return undefined;
  return `payrun release --all --by ${shellWord(author)} lifts it, and the holds on the bills that it has cancelled`;
}

function again({ run, source, contact }: StopOptions): string {
  const of = [
    ...(run === undefined ? [] : ["--run", shellWord(run)]),
    ...(source === undefined ? [] : ["--source", shellWord(source)]),
    ...(contact === undefined ? [] : ["--contact", shellWord(contact)]),
  ];
  return ["payrun stop", ...of, "--cancel-scheduled --reason …"].join(" ");
}

/** Returns what to stop, in the API's terms, with its business. */
async function targetNamed(
  gateway: GatewayClient,
  { run, source, contact, business }: StopOptions,
): Promise<Record<string, string>> {
  const named = [
    { field: "run", kind: "run", text: run },
    { field: "source", kind: "account", text: source },
    { field: "contactId", kind: "vendor", text: contact },
  ] as const;
  const said = named.flatMap(({ text, ...each }) =>
    text === undefined ? [] : [{ ...each, text }],
  );
  const [only, other] = said;
  if (other !== undefined) {
    throw usageError(
      "give at most one of --run, --source and --contact",
      "Without them all is stopped.",
    );
  }
  if (only === undefined) return business === undefined ? {} : { business };
  const { field, kind, text } = only;
  const thing = await findMeant(gateway, { kind, text, business });
  return { [field]: thing.id, business: thing.business };
}
