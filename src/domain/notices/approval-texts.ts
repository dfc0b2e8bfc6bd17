import { type ApprovalAsk, askText } from "../approvals/asks.ts";
import { stageText } from "../approvals/stages.ts";
import { type BillSum, waits } from "../counted.ts";
import { spokenTime } from "../clock/spoken.ts";
import { formatUsd } from "../money.ts";
import { bills, deadlineLines, type Deadline, type NoticeText, type RunName } from "./run-texts.ts";

/** Notifies that a later stage of an approval is open. */
export function stageOpened(run: RunName, ask: ApprovalAsk, until: Deadline): NoticeText {
  return {
    subject: `${subject(run, ask)} ${waits(ask.count)} for approval by ${askText(ask)}`,
    text: [
      `The previous stage has approved them; in run ${run.runId} your decision is next.`,
      ...escalationLines(ask, until.zone),
      ...deadlineLines(until),
      ...howTo(run),
    ].join("\n"),
  };
}

export function approvalReminder(run: RunName, ask: ApprovalAsk, until: Deadline): NoticeText {
  return {
    subject: `${subject(run, ask)} still ${waits(ask.count)} for approval`,
    text: [
      `${askText(ask)} was asked${since(ask, until.zone)}.`,
      ...escalationLines(ask, until.zone),
      ...deadlineLines(until),
      ...howTo(run),
    ].join("\n"),
  };
}

export function approvalEscalated(run: RunName, ask: ApprovalAsk, until: Deadline): NoticeText {
  const own = stageText(ask);
  return {
    subject: `${subject(run, ask)} waited too long for ${own}: ${ask.escalatesTo.join(" or ")} may decide`,
    text: [
      `${own} was asked${since(ask, until.zone)}, and has not decided.`,
      `${ask.escalatesTo.join(" or ")} may now decide as well; each person counts once.`,
      ...deadlineLines(until),
      ...howTo(run),
    ].join("\n"),
  };
}

/** Formats one line about the open stage, for people who look at the run. */
export function askLine(ask: ApprovalAsk, zone?: string): string {
  const next = escalationLines(ask, zone).map((line) => ` ${line}`);
  const held = ask.isHeld ? ", on hold" : "";
  return `${askText(ask)}: ${bills(ask.count)}, ${formatUsd(ask.cents)}${held}${since(ask, zone)}.${next.join("")}`;
}

function subject(run: RunName, sum: BillSum): string {
  return `${run.playbook} ${run.period}: ${bills(sum.count)} of ${formatUsd(sum.cents)}`;
}

function since({ sinceMs }: ApprovalAsk, zone?: string): string {
  return sinceMs === null ? "" : ` since ${spokenTime(sinceMs, zone)}`;
}

function escalationLines(
  { escalated, escalateAtMs, escalatesTo }: ApprovalAsk,
  zone?: string,
): string[] {
  const to = escalatesTo.join(" or ");
  if (to === "") return [];
  if (escalated) return [`Escalated to ${to}.`];
  if (escalateAtMs === null) return [];
  return [`${to} may decide as well from ${spokenTime(escalateAtMs, zone)}.`];
}

function howTo({ runId }: RunName): string[] {
  return [
    `Look at it with: payrun show ${runId}`,
    `Decide with: payrun approve ${runId}, or payrun reject ${runId}`,
  ];
}
