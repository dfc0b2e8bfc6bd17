import type { TopUpAccount, TopUpTerms } from "../../contracts/deposit.ts";
import { isOfKind } from "../../contracts/workflow-kinds.ts";
import { formatUsd } from "../money.ts";
import type { NoticeText } from "./run-texts.ts";

interface Deposit extends TopUpTerms {
  /** Id of the workflow that needs the money. */
  readonly owner: string;
  readonly sourceId: string;
  readonly account: TopUpAccount;
}

/** @param before why the previous deposit failed, or null */
export function topUpNeeded(deposit: Deposit, before: string | null): NoticeText {
  const { owner, makeBy, neededOn, arrivesOn, late } = deposit;
  return {
    subject: `${depositText(deposit)} waits for approval, to be made by ${makeBy}`,
    text: [
      `${owner} needs the money on ${neededOn}.`,
      ...(before === null ? [] : [`The previous deposit: ${before}`]),
      late
        ? `If made today, it arrives on ${arrivesOn}, too late for the first bills: they wait for it.`
        : `If made by ${makeBy}, it arrives on ${arrivesOn}.`,
      ...(isIncident(deposit)
        ? [`Decide with: payrun incident ${deposit.sourceId} --top-up`]
        : [
            `Look at it with: payrun status ${owner}`,
            `Decide with: payrun approve ${owner} --top-up, or payrun reject ${owner} --top-up`,
          ]),
    ].join("\n"),
  };
}

export function topUpFailed(deposit: Deposit, reason: string): NoticeText {
  const { owner } = deposit;
  return {
    subject: `${depositText(deposit)} failed`,
    text: [
      reason,
      `The bills of ${owner} wait for money. Another deposit needs another approval.`,
      lookAt(deposit, owner),
    ].join("\n"),
  };
}

/** Notifies that a deposit has made no progress for an hour, with the reason. */
export function topUpStuck(deposit: Deposit, reason: string): NoticeText {
  const { owner } = deposit;
  return {
    subject: `${depositText(deposit)} is not made yet: no progress for an hour`,
    text: [
      `It waits: ${reason}`,
      `The bills of ${owner} wait for the money. Payrun tries again, less and less often.`,
      lookAt(deposit, owner),
    ].join("\n"),
  };
}

/** Notifies of a deposit that has not arrived on its day. */
export function topUpOverdue(deposit: Deposit, status: string): NoticeText {
  const { arrivesOn, owner } = deposit;
  return {
    subject: `${depositText(deposit)} was due on ${arrivesOn} and has not arrived`,
    text: [
      `The service shows it as ${status}. Ask the service where the money is; Payrun deposits nothing more for it meanwhile.`,
      lookAt(deposit, owner),
    ].join("\n"),
  };
}

/** Notifies that the bank took back a deposit that had arrived. */
export function depositTakenBack(deposit: Deposit, reason: string): NoticeText {
  const { owner, sourceId } = deposit;
  return {
    subject: `${depositText(deposit)} had arrived, and the bank has taken it back`,
    text: [
      reason,
      `Bills may have been paid with it, so ${sourceId} may be short for others. Payrun doesn't repeat a deposit by itself: if money is missing, another deposit needs another approval.`,
      lookAt(deposit, owner),
    ].join("\n"),
  };
}

function lookAt(deposit: Deposit, owner: string): string {
  return `Look at it with: ${isIncident(deposit) ? "payrun incident" : `payrun status ${owner}`}`;
}

function isIncident({ owner, sourceId }: Deposit): boolean {
  return isOfKind(owner, "fundingIncident") && owner.endsWith(`/${sourceId}`);
}

/** Describes a deposit in a few words: its amount and the account that it comes from. */
export function depositText({
  amountCents,
  account,
}: Pick<Deposit, "amountCents" | "account">): string {
  const from = account.last4 === null ? (account.name ?? "") : `••${account.last4}`;
  return `A deposit of ${formatUsd(amountCents)} from ${from === "" ? account.bankAccountId : from}`;
}
