import type { PlannedTopUp } from "../../contracts/deposit.ts";
import type { TopUpStatus } from "../../api/deposits.ts";
import { formatUsd } from "../../domain/money.ts";
import { bold, printable, yellow } from "../terminal/text.ts";

/** The part of a deposit that is shown. */
export interface ShownTopUp extends Pick<
  TopUpStatus,
  "amountCents" | "approvers" | "quorum" | "approvedBy" | "makeBy" | "transactionId" | "reason"
> {
  readonly state: string;
  readonly account: { readonly name: string | null; readonly last4: string | null };
}

/** Describes the deposit that a plan proposes. */
export function plannedTopUpLines(topUp: PlannedTopUp | undefined): string[] {
  if (topUp === undefined) return [];
  const { makeBy, neededOn, arrivesOn, late } = topUp;
  const when = late
    ? yellow(`Made today it arrives on ${arrivesOn}, too late for the first bills on ${neededOn}.`)
    : `Made by ${makeBy} it arrives on ${arrivesOn}, in time for ${neededOn}.`;
  return [
    `Proposes a deposit of ${bold(formatUsd(topUp.amountCents))} from ${accountOf(topUp)}; needs ${who(topUp)}.`,
    `  ${when}`,
  ];
}

/** Lists the deposits of a run or an incident and where they stand. */
export function topUpLines(topUps: readonly ShownTopUp[] | undefined): string[] {
  if (topUps === undefined || topUps.length === 0) return [];
  return ["", ...topUps.flatMap(oneLine)];
}

function oneLine(topUp: ShownTopUp): string[] {
  const { amountCents, approvedBy, makeBy, quorum, reason, state, transactionId } = topUp;
  const missing = quorum - approvedBy.length;
  const waits =
    state === "proposed" && missing > 0 ? `, waits for ${who(topUp)}, to be made by ${makeBy}` : "";
  const by = approvedBy.length === 0 ? "" : `, approved by ${approvedBy.join(", ")}`;
  const id = transactionId === null ? "" : `, ${printable(transactionId)}`;
  const why = reason === null ? "" : `: ${printable(reason)}`;
  return [
    `Deposit of ${formatUsd(amountCents)} from ${accountOf(topUp)}: ${bold(state)}${waits}${by}${id}${why}`,
  ];
}

function who({ approvers, quorum }: Pick<PlannedTopUp, "approvers" | "quorum">): string {
  return quorum === 1 ? approvers.join(" or ") : `${quorum} people (${approvers.join(", ")})`;
}

/** Names the bank account of a deposit for people. */
export function accountOf({ account }: Pick<ShownTopUp, "account">): string {
  const name = printable(account.name ?? "bank account");
  return account.last4 === null ? name : `${name} ••${account.last4}`;
}
