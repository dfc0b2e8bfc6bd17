import { type ApprovalAsk, askText } from "../approvals/asks.ts";
import { wordCommand } from "../approvals/changed-records.ts";
import { stageText } from "../approvals/stages.ts";
import { type BillSum, waits } from "../counted.ts";
import { spokenTime } from "../clock/spoken.ts";
import { formatUsd } from "../money.ts";
import {
  bills,
  deadlineLines,
  type DecideBy,
  howTo,
  type NoticeText,
  type RunName,
} from "./run-texts.ts";

/** Notifies that a later stage of an approval is open. */
export function stageOpened(run: RunName, ask: ApprovalAsk, until: DecideBy): NoticeText {
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

export function approvalReminder(run: RunName, ask: ApprovalAsk, until: DecideBy): NoticeText {
  return {
    subject: `${subject(run, ask)} still ${waits(ask.count)} for ${ask.asksRecord ? "one word: is the vendor's account still right?" : "approval"}`,
    text: [
      `${askText(ask)}${ask.asksRecord ? "," : ""} was asked${since(ask, until.zone)}.`,
      ...escalationLines(ask, until.zone),
      ...deadlineLines(until),
      ...(ask.asksRecord ? [`If it is: ${wordCommand(run.runId)}`] : howTo(run)),
    ].join("\n"),
  };
}

export function approvalEscalated(run: RunName, ask: ApprovalAsk, until: DecideBy): NoticeText {
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

/**
 * Notifies that a person has approved seconds after the plan, or at odd hours, or has said that
 * vendors' accounts are still right.
 */
export function hurriedApprovalNotice(
  run: RunName,
  {
    by,
    hurry,
    needsAnother,
    isAboutAccounts,
  }: { by: string; hurry: string; needsAnother: boolean; isAboutAccounts: boolean },
): NoticeText {
  const did = isAboutAccounts ? "confirmed accounts" : "approved";
  const has = isAboutAccounts
    ? `has said in run ${run.runId} that accounts of vendors are still right,`
    : `has approved run ${run.runId}`;
  const said = isAboutAccounts ? "The word" : "The approval";
  return {
    subject: `${run.playbook} ${run.period}: ${by} ${did} ${hurry}`,
    text: [
      `${by} ${has} ${hurry}. If it wasn't ${by}, have the token revoked, and reject the run.`,
      `${said} counts${needsAnother ? ", and its bills need one more person" : ""}.`,
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
