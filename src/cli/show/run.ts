import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { type RunStatus } from "../../api/runs.ts";
import type { StartedBy } from "../../contracts/events.ts";
import { neededText } from "../../domain/approvals/asks.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { shownAmount, centsInState, sumsOfLines } from "../../domain/payments/line-parts.ts";
import { counted, type BillSum, countOf, NOTHING } from "../../domain/counted.ts";
import { wouldHavePaid } from "../../domain/plan-only.ts";
import { NOT_USED_UP } from "../../domain/planning/left-out.ts";
import { stoppedTexts } from "../../domain/runs/stopped-texts.ts";
import { shownPhase } from "../../domain/runs/shown-phase.ts";
import { GIVEN_BACK, shownBillState, shownSums } from "../../domain/runs/given-back.ts";
import { isException } from "../../domain/runs/exceptions.ts";
import { isOffCyclePeriod } from "../../domain/off-cycle.ts";
import { nameOf } from "./plan.ts";
import { resolveHint } from "./resolve-hint.ts";
import { deadlineText } from "./deadline.ts";
import { topUpLines } from "./deposit.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { bold, dim, fitting, green, printable, red, textTable, yellow } from "../terminal/text.ts";

const GOOD: readonly string[] = ["completed", "verified"];
const BAD: readonly string[] = [
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
  "suspended",
];

export function hasEnded({ phase }: { readonly phase: string }): boolean {
  const ended: readonly string[] = ENDED_PHASES;
  return ended.includes(phase);
}

/** Describes for a person where a run stands. */
export function runLines(run: RunStatus): string[] {
  const facts = [
    `${run.playbook}, ${run.business}, ${run.period}`,
    ...(run.launchedBy === "" ? [] : [`launched by ${printable(run.launchedBy)}`]),
    ...(run.planHash === null ? [] : [`plan ${run.planHash.slice(0, 12)}`]),
  ];
  return [
    `${bold(run.id)}  ${phaseText(shownPhase(run))}`,
    dim(facts.join(" · ")),
    ...outcomeLines(run),
    ...startedByLines(run.startedBy),
    ...planOnlyLines(run, sumOfStates(run)),
    ...waitsForLines(run.waitingFor),
    ...stoppedByLines(run),
    ...(run.failure === undefined ? [] : [`Failed: ${printable(run.failure)}`]),
    ...(run.undelivered === undefined
      ? []
      : [yellow(`Not everybody was notified: payrun notices --undelivered --run ${run.id}`)]),
    ...(run.decideBy === null ? [] : [deadlineText(run.decideBy, run)]),
    ...topUpLines(run.topUps),
    ...approvalLines(run),
    ...stateTable(run),
    ...reasonLines(run),
    ...(isOffCyclePeriod(run.period) ? [...payDateLines(run), ...leftOutLines(run)] : []),
  ];
}

/** Returns what it waits for, or what it leaves to a person at its end; nothing if neither. */
export function waitsForLines(waitingFor: string | null): string[] {
  return waitingFor === null ? [] : fitting([`Waits for: ${printable(waitingFor)}`]);
}

function stoppedByLines(run: RunStatus): string[] {
  return stoppedTexts(run).flatMap((text) => fitting([printable(text)]));
}

/** Names the first event that started something, and counts the others. */
export function startedByLines(events: readonly StartedBy[] = []): string[] {
  const [first, ...more] = events;
  if (first === undefined) return [];
  const { type, objectId, eventId } = first;
  const others = more.length === 0 ? "" : ` and ${counted(more.length, "more event")}`;
  return [dim(printable(`started by ${type} of ${objectId} (event ${eventId})${others}`))];
}

/**
 * Lists whom the run waits for. Omits an approval with one stage, no escalation and no time of
 * asking: everyone was asked at once, and waiting changes nothing.
 */
function approvalLines({ approvals = [], zone }: RunStatus): string[] {
  return approvals
    .filter(
      ({ stages, escalatesTo, since }) => stages > 1 || escalatesTo.length > 0 || since !== null,
    )
    .map((waiting) => {
      const { stage, stages, lines, totalCents, since, escalated, onHold } = waiting;
      const who = neededText(waiting);
      const to = printable(waiting.escalatesTo.join(" or "));
      return [
        `Approval${stages === 1 ? "" : `, stage ${stage} of ${stages}`}: ${printable(who)} for ${counted(lines, "bill")}, ${formatUsd(totalCents)}${onHold === true ? ", on hold" : ""}`,
        ...(since === null ? [] : [`asked ${spokenTime(since, zone)}`]),
        ...(escalated ? [yellow(`escalated to ${to}`)] : []),
        ...(escalated || waiting.escalatesAt === null
          ? []
          : [`${to} from ${spokenTime(waiting.escalatesAt, zone)}`]),
      ].join(" · ");
    });
}

export function phaseText(phase: string): string {
  if (GOOD.includes(phase)) return green(phase);
  return BAD.includes(phase) ? red(phase) : yellow(printable(phase));
}

/** Returns a run's outcome if its phase doesn't show it completely. */
export function outcomeLines({
  outcome,
  nothingToPay,
}: Pick<RunStatus, "outcome" | "nothingToPay">): string[] {
  if (nothingToPay === true) return [dim(NOT_USED_UP)];
  return outcome === undefined ? [] : [yellow(`Outcome: ${outcome}.`)];
}

/** Describes in yellow what a plan-only run would have paid, so that no one waits for payments. */
export function planOnlyLines(
  { planOnly, phase }: Pick<RunStatus, "planOnly" | "phase">,
  planned: BillSum,
): string[] {
  return planOnly === true && phase === "completed"
    ? [yellow(`It ${wouldHavePaid(planned)}.`)]
    : [];
}

function sumOfStates({ byState = {} }: RunStatus): BillSum {
  return byState.planned ?? NOTHING;
}

/** Lists bills and amounts by state; only those of the page if the run doesn't have its sums. */
function stateTable(run: RunStatus): string[] {
  const whole = run.nextPage === undefined || run.nextPage === null ? undefined : run.byState;
  const sums = Object.entries(
    shownSums(whole === undefined ? sumsOfPage(run) : { ...run, byState: whole }),
  );
  if (sums.length === 0) return [];
  const rows = sums.map(([state, sum]) => [state, countOf(sum), formatUsd(sum.cents)]);
  return [
    "",
    ...textTable(
      [{ title: "State" }, { title: "Bills", align: "right" }, { title: "Amount", align: "right" }],
      rows,
    ),
  ];
}

function sumsOfPage({ payments }: RunStatus): Parameters<typeof shownSums>[0] {
  const byState = sumsOfLines(payments);
  const back = payments.filter((payment) => shownBillState(payment) === GIVEN_BACK);
  if (back.length === 0) return { byState };
  return { byState, givenBack: { count: back.length, cents: sumCents(back.map(centsInState)) } };
}

const MOST_REASONS = 25;

/** Lists when each bill is paid, for a run of named bills: no schedule shows its dates. */
function payDateLines({ payments }: RunStatus): string[] {
  const rows = payments
    .filter(({ state }) => state !== "skipped")
    .slice(0, MOST_REASONS)
    .map((line) => [
      nameOf(line),
      formatUsd(line.amountCents),
      line.executionDate ?? "–",
      line.arrivalDate ?? "–",
    ]);
  if (rows.length === 0) return [];
  const titles = [{ title: "Amount", align: "right" as const }, { title: "Pays on" }];
  return ["", ...textTable([{ title: "Bill" }, ...titles, { title: "Arrives" }], rows)];
}

/** Lists the bills that the plan left out, each with its reason, for a run of named bills. */
function leftOutLines({ payments }: RunStatus): string[] {
  const left = payments.filter(({ state }) => state === "skipped");
  if (left.length === 0) return [];
  const rows = left
    .slice(0, MOST_REASONS)
    .map((line) => [nameOf(line), printable(line.reason ?? "")]);
  return [
    "",
    ...textTable([{ title: "Left out" }, { title: "Because" }], rows),
    ...(left.length > MOST_REASONS ? [dim(`and ${left.length - MOST_REASONS} more: --json`)] : []),
  ];
}

function reasonLines({ payments, nextPage }: RunStatus): string[] {
  const odd = payments.filter(isException);
  if (odd.length === 0) return [];
  const rows = odd
    .slice(0, MOST_REASONS)
    .map((line) => [
      nameOf(line),
      shownAmount(line),
      shownBillState(line),
      printable(line.reason ?? ""),
    ]);
  return [
    "",
    ...textTable([{}, { align: "right" }, {}, {}], rows),
    ...(odd.length > MOST_REASONS ? [dim(`and ${odd.length - MOST_REASONS} more: --json`)] : []),
    ...resolveHint(odd),
    ...(typeof nextPage === "number" ? [dim("Not all bills were read: see payrun report")] : []),
  ];
}
