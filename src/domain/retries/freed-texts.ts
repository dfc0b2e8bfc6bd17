import type { NotSent } from "../approvals/share.ts";
import { notSentText } from "../approvals/share-texts.ts";
import { counted, waits } from "../counted.ts";
import { afterLossText, afterText, type SendsAfter } from "../goes-out.ts";
import { formatUsd } from "../money.ts";

interface Sum {
  readonly bills: number;
  readonly totalCents: number;
}

/** What a release of an account means for the bills that waited for it. */
interface Freed {
  readonly paidAgain: Sum & SendsAfter & { readonly notSent?: readonly NotSent[] | undefined };
  readonly stillOnHold: Sum;
}

/** Says in sentences what a release means for the bills that waited; no sentence if none waited. */
export function paidAgainTexts(waited: number, { paidAgain, stillOnHold }: Freed): string[] {
  const { notSent = [] } = paidAgain;
  const notNow = notSent.reduce((sum, { count }) => sum + count, 0);
  const rest = waited - paidAgain.bills - notNow - stillOnHold.bills;
  const [are, them] = stillOnHold.bills === 1 ? ["is", "it"] : ["are", "them"];
  return [
    ...(paidAgain.bills === 0
      ? []
      : [
          `${sumText(paidAgain)} ${paidAgain.bills === 1 ? "is" : "are"} paid again${afterText(paidAgain) || ", on the next banking day"}.`,
          ...[afterLossText(paidAgain)].filter((text) => text !== ""),
        ]),
    ...notSent.map(notSentText),
    ...(stillOnHold.bills === 0
      ? []
      : [`${sumText(stillOnHold)} ${are} not paid again now: other holds apply to ${them}.`]),
    ...(rest <= 0
      ? []
      : [
          `${counted(rest, "bill")} ${waits(rest)} for something else: payrun explain BILL says what.`,
        ]),
  ];
}

function sumText({ bills, totalCents }: Sum): string {
  return `${counted(bills, "bill")}, ${formatUsd(totalCents)},`;
}
