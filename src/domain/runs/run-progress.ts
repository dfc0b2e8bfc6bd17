import { inMarkdown, inMarkdownCode } from "../others-text.ts";
import type { Assessment } from "../../contracts/activities.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { RunPhase } from "../../contracts/pay-run.ts";
import type { PayRunPlaybook } from "../../contracts/playbook.ts";
import { type ApprovalAsk, askText } from "../approvals/asks.ts";
import type { Clock } from "../clock/clock.ts";
import { serviceWaitText } from "../service-waits.ts";
import { spokenTime } from "../clock/spoken.ts";
import { withFullStop } from "../history-texts.ts";
import { type BillSum, countOf, NOTHING } from "../counted.ts";
import { formatUsd } from "../money.ts";
import { onlyPlans, shownState, wouldHavePaid } from "../plan-only.ts";
import { calledBackText } from "./after-end.ts";
import { type RunSoFar, runSoFar } from "./run-so-far.ts";
import { askLine } from "../notices/approval-texts.ts";
import { deadlineLines } from "../notices/run-texts.ts";
import { moneyPollInMs, soonestSleepMs, untilNextMs } from "../sleeps.ts";

export interface ProgressInput extends RunSoFar {
  readonly run: RunSoFar["run"] & {
    readonly runId: string;
    readonly phase: RunPhase;
    readonly playbook: string;
    readonly period: string;
    readonly business: string;
    readonly totalCents: number;
    readonly cancelRequestedAtMs: number | null;
    readonly planHash: string | null;
    readonly policy: Pick<PayRunPlaybook, "schedule">;
  };
  /** Address of the run's page; missing if it is unknown. */
  readonly page?: string | undefined;
  readonly rejected: boolean;
  /** True if it waits for a person. */
  readonly needsAction: boolean;
  /** False if no person has approved any of its bills; missing if that doesn't matter. */
  readonly isApproved?: boolean;
  readonly counts: ReadonlyMap<LineState, BillSum>;
  readonly waits: readonly {
    /** Empty if it concerns the whole business. */
    readonly sourceId: string;
    readonly message: string;
    readonly retryAtMs: number;
  }[];
  /** Lines parked because they were not approved in time. */
  readonly expiredLines: number;
  /**
   * Lines whose payment the safety net cancelled: no person requested that, so a person should
   * know.
   */
  readonly stoppedLines: number;
  readonly odd: readonly {
    /** The bill's name for people. */
    readonly name: string;
    readonly payableId: string;
    readonly state: string;
    readonly reasonCode: string | null;
  }[];
  /** Lines being retried that wait for an account that bounced; missing for none. */
  readonly bouncedLines?: number;
  /** Failed bills that a hold keeps from being paid again. */
  readonly heldRetries?: number;
  /** Failed bills that are not paid again before somebody has said that the account is right. */
  readonly askedRetries?: number;
  readonly toFund: number;
  readonly toPay: number;
  readonly toFollow: number;
  /** Business-clock instant of the next poll. */
  readonly nextPollMs: number | null;
  /** Service-clock instant at which a waiting line may be leased again. */
  readonly nextLeaseMs: number | null;
  readonly payDate: string | null;
  /** Open approvals. */
  readonly asks?: readonly ApprovalAsk[];
  /** ISO instant after which approving changes the dates; null for none. */
  readonly decideBy?: string | null;
  /** Business-clock instant of the next reminder or escalation. */
  readonly nextAskMs?: number | null;
  /** Business-clock instants at which a line changes by itself. */
  readonly nextChangesMs?: readonly (number | null)[];
  /** Business-clock instant until which a restored store sends nothing; missing if it sends. */
  readonly sendsNothingUntilMs?: number;
  /** Real milliseconds that it has waited for money. */
  readonly shortForMs?: number;
  /** State of the run's deposits. */
  readonly deposits?: {
    readonly due: boolean;
    readonly moving: boolean;
    readonly waitingFor: string | null;
    /** Real milliseconds. */
    readonly dueInMs: number | null;
  };
  /** False while the service can't be read. */
  readonly mayRead?: boolean;
  readonly clock: Clock & { readonly serviceMs: number };
}

/** Runs with fewer bills read payments after every signal. */
const MANY_BILLS = 1_000;

/**
 * Milliseconds between reads for each bill, up to a minute in all, so that a fast service doesn't
 * grow a run's history.
 */
const FOLLOW_MS_A_BILL = 0.5;
const FOLLOW_EVERY_MAX_MS = 60_000;

/**
 * Says where a run stands, what it waits for, and when to look again, from one reading of all its
 * lines.
 */
export function judgeProgress(input: ProgressInput): Assessment {
  const count = (...states: readonly LineState[]) =>
    states.reduce((sum, state) => sum + (input.counts.get(state)?.count ?? 0), 0);
  const { deposits } = input;
  const open =
    deposits?.moving === true ||
    [...input.counts].some(([state, sum]) => sum.count > 0 && !LINE.ended.includes(state));
  const phase = open ? openPhase(input, count) : endPhase(input, count);
  const waitingFor = open ? waitText(input, count) : null;
  const soFar = onlyPlans(input.run.policy)
    ? wouldHavePaid(input.counts.get("skipped") ?? NOTHING)
    : [runSoFar(input), calledBackText(phase, Object.fromEntries(input.counts))]
        .filter((text) => text !== undefined && text !== "")
        .join("; ");
  const exceptions = count(...LINE.endedOddly) + input.stoppedLines;
  const bills = [...input.counts.values()].reduce((sum, each) => sum + each.count, 0);
  return {
    phase,
    ended: !open,
    waitingFor,
    soFar,
    toFund: input.toFund,
    toPay: input.toPay,
    toFollow: input.toFollow,
    wakeInMs: wakeIn(input),
    ...(bills < MANY_BILLS
      ? {}
      : { followEveryMs: Math.min(FOLLOW_EVERY_MAX_MS, bills * FOLLOW_MS_A_BILL) }),
    ...(deposits?.due === true && input.mayRead !== false ? { toDeposit: true } : {}),
    needsAction: input.needsAction,
    exceptions,
    totalCents: input.run.totalCents,
    payDate: input.payDate,
    details: markdown(input, { phase, waitingFor, soFar }),
  };
}

type Count = (...states: readonly LineState[]) => number;

function openPhase(input: ProgressInput, count: Count): RunPhase {
  if (count(...LINE.leased) > 0) return "paying";
  if (count("awaiting-approval") > 0) return "awaiting-approval";
  if (count("planned") > 0) return input.toFund > 0 ? "funding" : "paying";
  if (count(...LINE.sent, "retrying") > 0) return "settling";
  if (count("on-hold") > 0 && input.isApproved === false) return "awaiting-approval";
  return count("on-hold") === 0 && input.deposits?.moving === true ? "settling" : "paying";
}

function endPhase(input: ProgressInput, count: Count): RunPhase {
  if (input.run.phase === "failed") return "failed";
  const paid = count(...LINE.paymentEnded, "given-up", "paid-elsewhere");
  const parkedOtherwise = count("parked") - input.expiredLines;
  if (input.rejected && paid === 0 && parkedOtherwise === 0) return "rejected";
  if (input.run.cancelRequestedAtMs !== null) return "cancelled";
  if (input.expiredLines > 0 && paid === 0 && parkedOtherwise === 0) return "expired";
  const exceptions = count(...LINE.endedOddly) + input.stoppedLines;
  return exceptions > 0 ? "completed-with-exceptions" : "completed";
}

function waitText(input: ProgressInput, count: Count): string | null {
  const wait = input.waits.find(({ sourceId }) => sourceId === "");
  if (wait !== undefined) return serviceWaitText(wait, input.clock);
  const { asks = [] } = input;
  const asked = asks.filter(({ isHeld }) => !isHeld);
  const held = asks.filter(({ isHeld }) => isHeld);
  const heldBills = held.reduce((sum, ask) => sum + ask.count, 0);
  const records = asked.filter(({ asksRecord }) => asksRecord);
  const ofRecords = records.reduce((sum, ask) => sum + ask.count, 0);
  const approvals = asked.filter(({ asksRecord }) => !asksRecord);
  const parts = [
    [count("awaiting-approval") - ofRecords, `waiting for approval${askedText(approvals)}`],
    [ofRecords, `approved, and waiting for a word${askedText(records)}`],
    [input.toFund, "waiting for money in the funding source"],
    [count("paying") + Math.max(0, count("planned") - input.toFund), sendingText(input)],
    [count("on-hold") - heldBills, "on hold"],
    [heldBills, `on hold and waiting for approval${askedText(held)}`],
    [count("unknown"), "in doubt: the response was lost; checking with the service"],
    [count("scheduled"), "scheduled"],
    [count("processing"), "on the way through the bank"],
    [count("held"), "held by the service for review"],
    [
      count("retrying") -
        (input.bouncedLines ?? 0) -
        (input.heldRetries ?? 0) -
        (input.askedRetries ?? 0),
      "retried after a failure",
    ],
    [input.heldRetries ?? 0, "on hold after a failure"],
    [
      input.askedRetries ?? 0,
      "waiting after a failure for a word whether the vendor's account is still right",
    ],
    [input.bouncedLines ?? 0, "waiting for a decision about their account, or for its deposit"],
  ] as const;
  const texts = parts
    .filter(([number]) => number > 0)
    .map(([number, text]) => `${number} ${number === 1 ? "bill" : "bills"} ${text}`);
  const deposit = input.deposits?.waitingFor ?? null;
  if (deposit !== null) texts.push(deposit);
  // A funding source's wait doesn't stop the rest, so it comes last.
  for (const { message } of input.waits) texts.push(`the service: ${message}`);
  return texts.length === 0 ? null : texts.join(", ");
}

function sendingText({ sendsNothingUntilMs, clock }: ProgressInput): string {
  if (sendsNothingUntilMs === undefined) return "being paid";
  return `waiting until ${spokenTime(sendsNothingUntilMs, clock.zone)}, because the store was restored: what it may have lost shows at the service by then`;
}

/** How many open approvals are named; the details list all of them. */
const ASKS_NAMED = 3;

function askedText(asks: readonly ApprovalAsk[]): string {
  if (asks.length === 0) return "";
  const named = [...new Set(asks.map(askText))];
  const more = named.length > ASKS_NAMED ? " and others" : "";
  return ` by ${named.slice(0, ASKS_NAMED).join("; ")}${more}`;
}

function wakeIn(input: ProgressInput): number {
  const { clock } = input;
  const dueInMs = input.deposits?.dueInMs ?? Infinity;
  // An overdue poll is made at once. Lines to follow have a wait of their own.
  const polled =
    input.nextPollMs === null || input.toFollow > 0 ? [] : [clock.realMsUntil(input.nextPollMs)];
  return soonestSleepMs(
    ...polled,
    untilNextMs([input.nextAskMs, ...(input.nextChangesMs ?? [])], clock),
    input.nextLeaseMs === null ? Infinity : input.nextLeaseMs - clock.serviceMs,
    input.toFund > 0 ? moneyPollInMs(input.shortForMs ?? 0, clock) : Infinity,
    // A due deposit is being made now, which will end the wait, or it waits for the service like
    // everything else.
    dueInMs > 0 ? dueInMs : Infinity,
    ...input.waits.map(({ retryAtMs }) => retryAtMs - clock.serviceMs),
  );
}

function decideText({ run, page, decideBy = null, clock: { zone } }: ProgressInput): string {
  const onPage = page === undefined ? "" : "on its page, or ";
  const how = `\`payrun approve ${run.runId}\` or \`payrun reject ${run.runId}\``;
  return [...deadlineLines({ decideBy, zone }), `They decide ${onPage}with ${how}.`].join(" ");
}

function markdown(
  input: ProgressInput,
  {
    phase,
    waitingFor,
    soFar,
  }: {
    readonly phase: RunPhase;
    readonly waitingFor: string | null;
    readonly soFar: string;
  },
): string {
  const rows = [...input.counts]
    .filter(([, { count, cents }]) => count + cents > 0)
    .map(([state, sum]) => `| ${shownState(state)} | ${countOf(sum)} | ${formatUsd(sum.cents)} |`);
  const asked = (input.asks ?? []).map((ask) => `- ${inMarkdown(askLine(ask, input.clock.zone))}`);
  // The reason stays with the bill: more people read this than the bill.
  const odd = input.odd.map(({ name, payableId, state, reasonCode }) => {
    const code = reasonCode === null ? "" : ` (${reasonCode})`;
    return `- ${inMarkdown(name)}: ${state}${code}; \`payrun explain ${inMarkdownCode(payableId)}\``;
  });
  return [
    `**${input.run.playbook}** for ${input.run.business}, period ${input.run.period}: **${phase}**`,
    ...(soFar === "" ? [] : ["", `So far: ${inMarkdown(soFar)}.`]),
    ...(waitingFor === null ? [] : ["", withFullStop(`Waits for: ${inMarkdown(waitingFor)}`)]),
    ...(input.page === undefined ? [] : ["", `[Open it in the console](${input.page})`]),
    "",
    "| State | Bills | Amount |",
    "|---|---:|---:|",
    ...rows,
    ...(asked.length === 0 ? [] : ["", "Asked to approve:", "", ...asked, "", decideText(input)]),
    ...(odd.length === 0 ? [] : ["", "Worth a look:", "", ...odd]),
  ].join("\n");
}
