import type { IncidentStatus } from "../../api/incidents.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { counted, waits } from "../../domain/counted.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { formatUsd } from "../../domain/money.ts";
import { callBackCommand } from "../../domain/notices/incident-texts.ts";
import { phaseText, waitsForLines } from "./run.ts";
import { nameOf } from "./plan.ts";
import { topUpLines } from "./deposit.ts";
import { bold, dim, printable, textTable } from "../terminal/text.ts";

/** Describes for a person where the incident of a funding account stands. */
export function incidentLines(status: IncidentStatus): string[] {
  const { payments, decision, decidedBy, waitingFor } = status;
  const rows = payments.map((bill) => [
    nameOf(bill),
    formatUsd(bill.amountCents),
    bill.state,
    printable(bill.reason ?? ""),
    dim(bill.payableId),
  ]);
  return [
    `${bold(printable(status.account))}  ${phaseText(status.phase)}  ${dim(status.id)}`,
    dim(`${status.business} · bounced first with ${printable(codeAndWords(status))}`),
    ...waitsForLines(waitingFor),
    ...(decision === null ? [] : [`Decided: ${decision}, by ${printable(decidedBy ?? "")}`]),
    ...waitingLines(status),
    ...scheduledLines(status),
    ...topUpLines(status.topUps),
    ...(rows.length === 0 ? [] : ["", ...textTable([{}, { align: "right" }, {}, {}, {}], rows)]),
  ];
}

/**
 * Counts the bills that wait for the incident; after the decision, those that waited. Bills that
 * have continued since need no mention.
 */
function waitingLines({ phase, payments, totalCents }: IncidentStatus): string[] {
  if (phase === "ended" && payments.length === 0) return [];
  const bills = `${counted(payments.length, "bill")} of ${formatUsd(totalCents)}`;
  if (phase === "ended") return [`${bills} waited for it.`];
  return [`${bills} ${waits(payments.length)} for it.`];
}

/**
 * Says what is scheduled from the account, and until when it can be called back: by Payrun itself,
 * or by a person's command.
 */
export function scheduledLines({
  source,
  scheduled,
}: Pick<IncidentStatus, "source" | "scheduled">): string[] {
  if (scheduled === undefined || scheduled.bills === 0) return [];
  const { bills, totalCents, cancelBy, calledBackBy } = scheduled;
  const until =
    cancelBy === null ? "" : `; the first can be cancelled until ${spokenTime(cancelBy)}`;
  return [
    `The service has ${counted(bills, "bill")} scheduled from it, ${formatUsd(totalCents)}${until}`,
    dim(
      calledBackBy === undefined
        ? callBackCommand(source)
        : `Payrun calls them back by itself: payrun status ${shellWord(shortName(calledBackBy))}`,
    ),
  ];
}

/** Returns code and reason; the bank's reason may be only the code, or begin with it. */
function codeAndWords({ code, reason }: Pick<IncidentStatus, "code" | "reason">): string {
  return reason.startsWith(code) ? reason : `${code}: ${reason}`;
}
