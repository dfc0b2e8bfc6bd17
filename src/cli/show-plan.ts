import type { DryPlan, LineFlag, PlanSummary } from "../contracts/pay-run.ts";
import { formatUsd } from "../domain/money.ts";
import { newYorkTime } from "./times.ts";
import { bold, count, dim, printable, short, table, yellow } from "./text.ts";

/** A line as far as it is shown; plans and running runs both have it. */
export interface ShownLine {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly contactName: string | null;
  readonly amountCents: number;
  readonly flags: readonly LineFlag[];
  readonly approvers: readonly string[];
  readonly quorum: number;
}

/** Totals, the cash they take and leave, and who must approve what. */
export function planTotals(plan: PlanSummary, lines: readonly ShownLine[]): string[] {
  return [
    `${bold(count(plan.lineCount, "bill"))} to pay, ${bold(formatUsd(plan.totalCents))}`,
    ...cashLines(plan),
    ...approvalLines(lines),
    ...(plan.warnings ?? []).map((warning) => yellow(printable(warning))),
    ...(plan.decideBy === null
      ? []
      : [`Decide by ${newYorkTime(plan.decideBy)}: later changes the dates.`]),
  ];
}

function cashLines(plan: PlanSummary): string[] {
  if (plan.source === null) return [];
  const { name, kind, last4 } = plan.source;
  const source = `${printable(name ?? kind)}${last4 === null ? "" : ` …${last4}`}`;
  const first = plan.cash[0];
  const last = plan.cash.at(-1);
  if (first === undefined || last === undefined) return [`From ${source}.`];
  const days = first.date === last.date ? `on ${first.date}` : `from ${first.date} to ${last.date}`;
  const left = last.leftCents === null ? "" : `, ${formatUsd(last.leftCents)} left after it`;
  const available =
    plan.availableCents === null ? "" : ` (${formatUsd(plan.availableCents)} available)`;
  const reserved =
    plan.reservedCents === 0 ? "" : ` Promised to other runs: ${formatUsd(plan.reservedCents)}.`;
  return [`From ${source}${available}, ${days}${left}.${reserved}`];
}

function approvalLines(lines: readonly ShownLine[]): string[] {
  const groups = new Map<string, { count: number; cents: number }>();
  for (const { quorum, approvers, amountCents } of lines) {
    const who =
      quorum === 1 ? approvers.join(" or ") : `${quorum} people (${approvers.join(", ")})`;
    const group = groups.get(who) ?? { count: 0, cents: 0 };
    groups.set(who, { count: group.count + 1, cents: group.cents + amountCents });
  }
  return [...groups].map(
    ([who, { count: bills, cents }]) =>
      `Needs ${who}: ${count(bills, "bill")}, ${formatUsd(cents)}`,
  );
}

/** Flags of dates: they can be many, and there is nothing to choose about them. */
const COUNTED: readonly LineFlag["kind"][] = ["late", "not-recallable"];

/** True where a person should look at the line itself. */
export function isOdd({ flags }: Pick<ShownLine, "flags">): boolean {
  return flags.some(({ kind }) => !COUNTED.includes(kind));
}

/** The lines that somebody should look at, with why, the largest first; the rest as counts. */
export function oddLines(lines: readonly ShownLine[], most = 12): string[] {
  const odd = lines.filter(isOdd).toSorted((one, other) => other.amountCents - one.amountCents);
  const rows = odd
    .slice(0, most)
    .flatMap((line) =>
      line.flags
        .filter(({ kind }) => !COUNTED.includes(kind))
        .map((flag, index) => [
          index === 0 ? nameOf(line) : "",
          index === 0 ? formatUsd(line.amountCents) : "",
          `${yellow(flag.kind)}: ${printable(flag.text)}`,
        ]),
    );
  const late = lines.filter(({ flags }) => flags.some(({ kind }) => kind === "late")).length;
  return [
    ...(odd.length === 0 ? [] : [`${bold("Worth a look")} (${odd.length}):`]),
    ...table([{}, { align: "right" }, {}], rows).map((line) => `  ${line}`),
    ...(odd.length > most ? [dim(`  and ${odd.length - most} more`)] : []),
    ...(late === 0 ? [] : [`${count(late, "bill")} will arrive late, even if paid at once.`]),
  ];
}

export function nameOf(line: Pick<ShownLine, "contactName" | "publicId" | "payableId">): string {
  const vendor = line.contactName === null ? "" : `${printable(short(line.contactName, 32))} `;
  return `${vendor}${dim(line.publicId ?? line.payableId)}`;
}

/** How many bills are left out for which reason; no bill by name. */
export function skippedCounts(plan: PlanSummary): string[] {
  const reasons = Object.entries(plan.skippedByCode).toSorted(([, one], [, other]) => other - one);
  if (reasons.length === 0) return [];
  const total = reasons.reduce((sum, [, number]) => sum + number, 0);
  return [
    `${bold("Left out")} (${total}): ${reasons
      .map(([code, number]) => `${number} ${code.replaceAll("-", " ")}`)
      .join(", ")}`,
  ];
}

/** Every bill of a plan: what is paid and when, and what is left out and why. */
export function everyLine(plan: DryPlan): string[] {
  const paid = plan.lines.map((line) => [
    nameOf(line),
    formatUsd(line.amountCents),
    line.dueDate ?? "no due date",
    line.executionDate,
    line.arrivalDate,
    line.overLimit === null
      ? line.flags.map(({ kind }) => kind).join(", ")
      : printable(line.overLimit.text),
  ]);
  const left = plan.skipped.map((line) => [
    nameOf(line),
    formatUsd(line.amountCents),
    line.dueDate ?? "no due date",
    printable(line.text),
  ]);
  return [
    ...table(
      [
        { title: "Pays" },
        { title: "Amount", align: "right" },
        { title: "Due" },
        { title: "Executes" },
        { title: "Arrives" },
        { title: "" },
      ],
      paid,
    ),
    ...(left.length === 0 ? [] : [""]),
    ...(left.length === 0
      ? []
      : table(
          [
            { title: "Leaves out" },
            { title: "Amount", align: "right" },
            { title: "Due" },
            { title: "Because" },
          ],
          left,
        )),
  ];
}
