import type { DryPlanAnswer, PlanFigures, RunPaymentStatus, RunStatus } from "../../api/runs.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import type { ApprovalStage } from "../../contracts/playbook.ts";
import { spokenDeadline } from "../../domain/clock/spoken.ts";
import { type BillSum, NOTHING, plus } from "../../domain/counted.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { leftOutText } from "../../domain/planning/left-out.ts";
import { asApprover } from "../home/people.ts";
import { plannedTopUpLines } from "./deposit.ts";
import { bold, count, dim, printable, short, table, yellow } from "../terminal/text.ts";

/** A line as far as it is shown; plans and running runs both have it. */
export interface ShownLine {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly contactName: string | null;
  readonly amountCents: number;
  readonly flags: RunPaymentStatus["flags"];
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly stages?: readonly Pick<ApprovalStage, "by" | "quorum">[] | undefined;
  /** Of a plan that no run belongs to: the limit that parks it. */
  readonly overLimit?: object | null;
}

/** Bills that are named as odd; more are counted. */
const ODD_MOST = 12;

/**
 * What a plan's bills come to for a person. Takes them page by page and keeps none but the few odd
 * ones that are named.
 */
export class PlanDigest {
  readonly #rules = new Map<string, BillSum>();
  #odd: ShownLine[] = [];
  #oddCount = 0;
  #lateCount = 0;
  #notRecallableCount = 0;
  #overLimit: BillSum = NOTHING;

  add(lines: readonly ShownLine[]): this {
    const over = lines.filter(isOverLimit);
    const overCents = sumCents(over.map(({ amountCents }) => amountCents));
    this.#overLimit = plus(this.#overLimit, { count: over.length, cents: overCents });
    for (const line of lines) {
      const { quorum, approvers, stages, amountCents, flags } = line;
      if (isOverLimit(line)) continue;
      const who = (stages ?? [{ by: approvers, quorum }]).map(peopleText).join(", then ");
      const sum = this.#rules.get(who) ?? NOTHING;
      this.#rules.set(who, plus(sum, { count: 1, cents: amountCents }));
      if (flags.some(({ kind }) => kind === "late")) this.#lateCount += 1;
      if (flags.some(({ kind }) => kind === "not-recallable")) this.#notRecallableCount += 1;
    }
    const odd = lines.filter(isFlagged);
    this.#oddCount += odd.length;
    this.#odd = [...this.#odd, ...odd]
      .toSorted((one, other) => other.amountCents - one.amountCents)
      .slice(0, ODD_MOST);
    return this;
  }

  /** Totals, the cash they take and leave, and who must approve what. */
  totals(plan: PlanFigures & { readonly zone?: string }): string[] {
    const over = this.#overLimit;
    const [lines, cents] = [plan.lineCount - over.count, plan.totalCents - over.cents];
    return [
      `${bold(count(lines, "bill"))} to pay, ${bold(formatUsd(cents))}`,
      ...(over.count === 0
        ? []
        : [
            yellow(
              `Over a limit: ${count(over.count, "bill")}, ${formatUsd(over.cents)}, parked at once for a person, whoever approves`,
            ),
          ]),
      ...cashLines(plan),
      ...plannedTopUpLines(plan.topUp),
      ...[...this.#rules].map(
        ([who, sum]) => `Needs ${who}: ${count(sum.count, "bill")}, ${formatUsd(sum.cents)}`,
      ),
      ...(plan.warnings ?? []).map((warning) => yellow(printable(warning))),
      ...(plan.decideBy === null
        ? []
        : [`Decide by ${spokenDeadline(plan.decideBy, plan)}: later changes the dates.`]),
    ];
  }

  /** The bills that somebody should look at, with why, the largest first; the rest as counts. */
  oddLines(): string[] {
    const rows = this.#odd.flatMap((line) =>
      line.flags
        .filter(({ kind }) => !COUNTED.includes(kind))
        .map((flag, index) => [
          index === 0 ? nameOf(line) : "",
          index === 0 ? formatUsd(line.amountCents) : "",
          `${yellow(flag.kind)}: ${printable(flag.text)}`,
        ]),
    );
    const [odd, late] = [this.#oddCount, this.#lateCount];
    return [
      ...(odd === 0 ? [] : [`${bold("Worth a look")} (${odd.toLocaleString("en-US")}):`]),
      ...table([{}, { align: "right" }, {}], rows).map((line) => `  ${line}`),
      ...(odd > ODD_MOST ? [dim(`  and ${(odd - ODD_MOST).toLocaleString("en-US")} more`)] : []),
      ...(late === 0 ? [] : [`${count(late, "bill")} will arrive late, even if paid at once.`]),
      ...notRecallable(this.#notRecallableCount),
    ];
  }
}

function isOverLimit({ overLimit = null }: ShownLine): boolean {
  return overLimit !== null;
}

/** A bill with several scheduled payments can't be cancelled at the service. */
function notRecallable(bills: number): string[] {
  if (bills === 0) return [];
  return [
    yellow(
      `${count(bills, "bill")} can't be recalled once sent: the service cancels none of several scheduled payments.`,
    ),
  ];
}

/** What an account has left; what it lacks is no amount that somebody has. */
export function leftText(cents: number, words: string): string {
  return cents < 0 ? yellow(`short by ${formatUsd(-cents)}`) : `${formatUsd(cents)} ${words}`;
}

function cashLines(plan: PlanFigures): string[] {
  if (plan.source === null) return [];
  const { name, kind, last4 } = plan.source;
  const source = `${printable(name ?? kind)}${last4 === null ? "" : ` …${last4}`}`;
  const first = plan.cash[0];
  const last = plan.cash.at(-1);
  if (first === undefined || last === undefined) return [`From ${source}.`];
  const days = first.date === last.date ? `on ${first.date}` : `from ${first.date} to ${last.date}`;
  const left = last.leftCents === null ? "" : `, ${leftText(last.leftCents, "left after it")}`;
  const available =
    plan.availableCents === null ? "" : ` (${formatUsd(plan.availableCents)} available)`;
  const reserved =
    plan.reservedCents === 0 ? "" : ` Promised already: ${formatUsd(plan.reservedCents)}.`;
  return [`From ${source}${available}, ${days}${left}.${reserved}`];
}

/** Flags of dates: they can be many, and there is nothing to choose about them. */
const COUNTED: readonly RunPaymentStatus["flags"][number]["kind"][] = ["late", "not-recallable"];

/** True where a person should look at the line itself. */
export function isFlagged({ flags }: Pick<ShownLine, "flags">): boolean {
  return flags.some(({ kind }) => !COUNTED.includes(kind));
}

export function nameOf(line: Pick<ShownLine, "contactName" | "publicId" | "payableId">): string {
  const vendor = line.contactName === null ? "" : `${printable(short(line.contactName, 32))} `;
  return `${vendor}${dim(line.publicId ?? line.payableId)}`;
}

/** Phases in which a run has bills that somebody may have to approve. */
const UNDECIDED: readonly string[] = ["planning", "awaiting-approval"];

/**
 * What can be typed about a run that has not ended. Who launched it can't approve it; of one that
 * nobody approves any more it says where it is.
 */
export function nextCommands(
  { id, phase, waitingFor }: Pick<RunStatus, "id" | "phase" | "waitingFor">,
  home: string,
): string {
  const run = shortName(id);
  if (UNDECIDED.includes(phase)) {
    return dim(`payrun show ${run} · somebody else: payrun approve ${run}${asApprover(home)}`);
  }
  const where = waitingFor === null ? phase : `${phase}, ${printable(waitingFor)}`;
  return dim(`it is ${where} · payrun status ${run} · payrun watch ${run}`);
}

/** How many bills are left out for which reason; no bill by name. */
export function skippedCounts(plan: PlanFigures): string[] {
  const total = Object.values(plan.skippedByCode).reduce((sum, number) => sum + number, 0);
  if (total === 0) return [];
  return [`${bold("Left out")} (${count(total, "bill")}): ${leftOutText(plan.skippedByCode)}`];
}

/** The bills of a page of a plan that are paid, and when. */
export function billsOf(plan: Pick<DryPlanAnswer, "lines">): string[] {
  if (plan.lines.length === 0) return [];
  const columns = [
    { title: "Pays" },
    { title: "Amount", align: "right" },
    { title: "Due" },
    { title: "Executes" },
    { title: "Arrives" },
    {},
  ] as const;
  const rows = plan.lines.map((line) => [
    nameOf(line),
    formatUsd(line.amountCents),
    line.dueDate ?? "no due date",
    line.executionDate,
    line.arrivalDate,
    line.overLimit === null
      ? line.flags.map(({ kind }) => kind).join(", ")
      : printable(line.overLimit.text),
  ]);
  return [...table(columns, rows), ""];
}

/** The bills of a page of a plan that are left out, each with why. */
export function leftOutOf(plan: Pick<DryPlanAnswer, "skipped">): string[] {
  if (plan.skipped.length === 0) return [];
  const columns = [
    { title: "Leaves out" },
    { title: "Amount", align: "right" },
    { title: "Due" },
    { title: "Because" },
  ] as const;
  const rows = plan.skipped.map((line) => [
    nameOf(line),
    formatUsd(line.amountCents),
    line.dueDate ?? "no due date",
    printable(line.text),
  ]);
  return [...table(columns, rows), ""];
}

function peopleText({ by, quorum }: Pick<ApprovalStage, "by" | "quorum">): string {
  return quorum === 1 ? by.join(" or ") : `${quorum} people (${by.join(", ")})`;
}
