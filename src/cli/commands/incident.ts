import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { formatUsd } from "../../domain/money.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type GatewayClient, gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import { findMeant } from "../client/names.ts";
import type { CliSession } from "../client/session.ts";
import { paidAgainTexts } from "../../domain/retries/freed-texts.ts";
import { scheduledLines } from "../show/incident.ts";
import { topUpLines } from "../show/deposit.ts";
import { goesOutLines } from "../show/holds.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { dim, green, printable, textTable } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { type IncidentView, IncidentBody, IncidentListBody } from "../../api/incidents.ts";

const HELP = `
--released      the money is there: the hold is lifted, and each bill that no other hold keeps
                back is paid again
--other-source  the bills go back to the next run, which asks for a new approval; the hold stays.
                Change pay: from in the playbook first, which says where the next run pays from
--top-up        approves the deposit that it asks for: the hold is lifted once the money is there`;

const COLUMNS = ["Account", "Stands", "Bills", "Amount", "Decided by", "First reason", "Id"];

export function addIncidentCommand(program: Command, session: CliSession): void {
  program
    .command("incident")
    .description("list funding accounts that payments bounced from, or decide about one")
    .argument("[account]", "a funding account: its name, last four or id")
    .option("--released", "lift its hold")
    .option("--other-source", "pay from another account")
    .option("--top-up", "approve the deposit that it requests")
    .option("--reason <text>", "why, for the audit trail")
    .option("--business <name>", "needed only if there are several businesses")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .addHelpText("after", HELP)
    .action((account, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const decisions = decisionsOf(options);
        if (account === undefined) {
          if (decisions.length > 0)
            throw usageError(
              "name the funding source",
              "payrun incident lists them: payrun incident ACCOUNT --released",
            );
          const found = await gateway.get(
            ofBusiness("/v1/incidents", options.business),
            IncidentListBody,
          );
          const rows = found.items.map((each) => [
            printable(each.account),
            each.decision === null ? each.phase : `${each.decision} by ${each.decidedBy ?? ""}`,
            String(each.bills),
            formatUsd(each.billsCents),
            each.roles.join(", "),
            printable(each.reason),
            dim(printable(each.source)),
          ]);
          const titles = COLUMNS.map((title) => ({ title }));
          output.lines(rows.length === 0 ? ["No payment has bounced."] : textTable(titles, rows));
          output.lines(found.items.flatMap(({ topUps }) => topUpLines(topUps)));
          output.lines(found.items.flatMap(scheduledLines));
          output.document(found);
          return;
        }
        const [decision, other] = decisions;
        if (decision === undefined || other !== undefined) {
          throw usageError("choose one decision", "--released, --other-source or --top-up.");
        }
        const { id: source, business } = await findMeant(gateway, {
          kind: "account",
          text: account,
          business: options.business,
        });
        const path = ofBusiness(`/v1/incidents/${encodeURIComponent(source)}/decision`, business);
        const reason = options.reason ?? "Decided from the command line.";
        const topUpHash =
          decision === "top-up" ? await shownDeposit(gateway, business, source) : undefined;
        const incident = await gateway.post(path, IncidentBody, {
          decision,
          reason,
          ...definedOnly({ topUpHash }),
        });
        output.line(`${green("✓")} ${printable(incident.account)}: ${decision}`);
        output.lines(decidedLines(incident));
        if (decision === "top-up") output.lines(topUpLines(incident.topUps.slice(-1)));
        output.document(incident);
      }),
    );
}

/** Describes what happens to the bills that waited for the decision. */
function decidedLines({ bills, billsCents, holdId, freed, decision }: IncidentView): string[] {
  if (freed !== undefined) {
    const { goesOut } = freed;
    const isOthers = goesOut.bills > 0 || goesOut.asksAgain !== undefined;
    return [
      ...paidAgainTexts(bills, freed).map((text) => `  ${printable(text)}`),
      ...(isOthers ? goesOutLines(goesOut, true) : []),
    ];
  }
  if (bills === 0 || decision !== "other-source") return [];
  const sum = `${counted(bills, "bill")}, ${formatUsd(billsCents)},`;
  return [
    `  ${sum} ${bills === 1 ? "goes" : "go"} back to the next run, which asks for a new approval.`,
    `  The account stays on hold until payrun release ${holdId}`,
  ];
}

/** Returns the deposit that the incident currently asks for. */
async function shownDeposit(
  gateway: GatewayClient,
  business: string | undefined,
  source: string,
): Promise<string | undefined> {
  const { items } = await gateway.get(ofBusiness("/v1/incidents", business), IncidentListBody);
  const incident = items.find((each) => each.source === source);
  return incident?.topUps.findLast(({ state }) => state === "proposed")?.hash;
}

function decisionsOf(options: {
  readonly released?: true | undefined;
  readonly otherSource?: true | undefined;
  readonly topUp?: true | undefined;
}): string[] {
  return [
    ...(options.released === true ? ["released"] : []),
    ...(options.otherSource === true ? ["other-source"] : []),
    ...(options.topUp === true ? ["top-up"] : []),
  ];
}
