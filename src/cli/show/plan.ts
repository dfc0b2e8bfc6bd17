import type { DryPlanAnswer, PlanFigures, RunPaymentStatus, RunStatus } from "../../api/runs.ts";
import { isFlagged as isOdd } from "../../domain/planning/flagged.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import type { ApprovalStage } from "../../contracts/playbook.ts";
import { spokenDeadline } from "../../domain/clock/spoken.ts";
import { counted, type BillSum, NOTHING, plus } from "../../domain/counted.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { leftOutText } from "../../domain/planning/left-out.ts";
import { asApprover } from "../home/people.ts";
import { plannedTopUpLines } from "./deposit.ts";
import { bold, dim, printable, short, textTable, yellow } from "../terminal/text.ts";

/** The part of a line that is shown; plans and running runs both have it. */
export interface ShownLine {
  readonly payableId: string;
  readonly publicId: string | null;
  readonly contactName: string | null;
  readonly amountCents: number;
  readonly flags: RunPaymentStatus["flags"];
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly stages?: readonly Pick<ApprovalStage, "by" | "quorum">[] | undefined;
  /** The limit that will park the line; only in a plan without a run. */
  readonly overLimit?: object | null;
}

/** Flagged bills that are named; further ones are only counted. */
const ODD_MOST = 12;

/**
 * Summarizes a plan for a person. Reads one page of lines at a time and keeps only the few flagged
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
    const odd = lines.filter(isWorthALook);
    this.#oddCount += odd.length;
    this.#odd = [...this.#odd, ...odd]
      .toSorted(
        (one, other) =>
          Number(isOdd(other)) - Number(isOdd(one)) || other.amountCents - one.amountCents,
      )
      .slice(0, ODD_MOST);
    return this;
  }

  /** Returns the totals, the cash that they take and leave, and who must approve what. */
  totals(plan: PlanFigures & { readonly zone?: string }): string[] {
    const over = this.#overLimit;
    const [lines, cents] = [plan.lineCount - over.count, plan.totalCents - over.cents];
    return [
      `${bold(counted(lines, "bill"))} to pay, ${bold(formatUsd(cents))}`,
      ...(over.count === 0
        ? []
        : [
            yellow(
              `Over a limit: ${counted(over.count, "bill")}, ${formatUsd(over.cents)}, parked at once for a person, no matter who approves`,
            ),
          ]),
      ...cashLines(plan),
      ...plannedTopUpLines(plan.topUp),
      ...[...this.#rules].map(
        ([who, sum]) => `Needs ${who}: ${counted(sum.count, "bill")}, ${formatUsd(sum.cents)}`,
      ),
      ...(plan.warnings ?? []).map((warning) => yellow(printable(warning))),
      ...(plan.decideBy === null
        ? []
        : [`Decide by ${spokenDeadline(plan.decideBy, plan)}: later changes the dates.`]),
    ];
  }

  /**
   * Lists the bills that need a person's attention with the reason, largest first; counts the rest.
   */
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
      ...textTable([{}, { align: "right" }, {}], rows).map((line) => `  ${line}`),
      ...(odd > ODD_MOST ? [dim(`  and ${(odd - ODD_MOST).toLocaleString("en-US")} more`)] : []),
      ...(late === 0 ? [] : [`${counted(late, "bill")} will arrive late, even if paid at once.`]),
      ...notRecallable(this.#notRecallableCount),
    ];
  }
}

function isOverLimit({ overLimit = null }: ShownLine): boolean {
  return overLimit !== null;
}

/** Warns of bills with several scheduled payments, which can't be cancelled at the service. */
function notRecallable(bills: number): string[] {
  if (bills === 0) return [];
  return [
    yellow(
      `${counted(bills, "bill")} can't be recalled once sent: the service cancels none of a bill's scheduled payments if there are several.`,
    ),
  ];
}

/** Describes what an account has left; if it is short, by how much. */
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

/** Flags about dates: there can be many, and they leave nothing to choose. */
const COUNTED: readonly RunPaymentStatus["flags"][number]["kind"][] = ["late", "not-recallable"];

/** True if a person should look at the line itself. */
export function isWorthALook({ flags }: Pick<ShownLine, "flags">): boolean {
  return flags.some(({ kind }) => !COUNTED.includes(kind));
}

export function nameOf(line: Pick<ShownLine, "contactName" | "publicId" | "payableId">): string {
  const vendor = line.contactName === null ? "" : `${printable(short(line.contactName, 32))} `;
  return `${vendor}${dim(line.publicId ?? line.payableId)}`;
}

/** Phases in which a run may have bills that need an approval. */
const UNDECIDED: readonly string[] = ["planning", "awaiting-approval"];

/**
 * Returns the commands to type about a run that has not ended. Its launcher can't approve it. If
 * the run needs no more approvals, returns its state.
 */
export function nextCommands(
  { id, phase, waitingFor }: Pick<RunStatus, "id" | "phase" | "waitingFor">,
  home: string,
): string {
  const run = shortName(id);
  if (UNDECIDED.includes(phase)) {
    return dim(`payrun show ${run} · someone else: payrun approve ${run}${asApprover(home)}`);
  }
  const where = waitingFor === null ? phase : `${phase}, ${printable(waitingFor)}`;
  return dim(`it is ${where} · payrun status ${run} · payrun watch ${run}`);
}

/** Counts the bills that are left out by reason, without naming any. */
export function skippedCounts(plan: PlanFigures): string[] {
  const total = Object.values(plan.skippedByCode).reduce((sum, number) => sum + number, 0);
  if (total === 0) return [];
  return [`${bold("Left out")} (${counted(total, "bill")}): ${leftOutText(plan.skippedByCode)}`];
}

/** Lists the bills of a page of a plan that are paid, and when. */
export function paidBills(plan: Pick<DryPlanAnswer, "lines">): string[] {
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
  return [...textTable(columns, rows), ""];
}

/** Lists the bills of a page of a plan that are left out, each with its reason. */
export function leftOutBills(plan: Pick<DryPlanAnswer, "skipped">): string[] {
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
  return [...textTable(columns, rows), ""];
}

function peopleText({ by, quorum }: Pick<ApprovalStage, "by" | "quorum">): string {
  return quorum === 1 ? by.join(" or ") : `${quorum} people (${by.join(", ")})`;
}
