import { spokenTime } from "../../domain/clock/spoken.ts";
import { afterLossText, askedAgainText, goOut } from "../../domain/goes-out.ts";
import { notSentText } from "../../domain/approvals/share-texts.ts";
import { formatUsd } from "../../domain/money.ts";
import type { GoesOut, HeldSums, HoldView } from "../../api/holds.ts";
import { isSetByPayrun } from "../../domain/holds.ts";
import { dim, printable, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { nameOf } from "./plan.ts";

/** Names what a hold is on, as people call it. */
export function heldName({ scope, value, number, name, amountCents }: HoldView): string {
  switch (scope) {
    case "all":
      return "everything";
    case "payable": {
      const amount = amountCents === null ? "" : `, ${formatUsd(amountCents)}`;
      return `${nameOf({ contactName: name, publicId: number, payableId: value })}${amount}`;
    }
    case "contact":
      return `every bill of ${printable(name ?? value)}`;
    case "source":
      return `account ${printable(name ?? value)}${number === null ? "" : ` ··${number}`}`;
    default:
      return `${scope} ${printable(value)}`;
  }
}

/** Describes a hold on everything or on an account, which must be known before anything else. */
export function stopLine(hold: HoldView): string {
  const { scope, business, reason, author, createdAt, zone, id } = hold;
  const what = scope === "all" ? "Everything" : heldName(hold).replace(/^a/, "A");
  const by = isSetByPayrun(hold) ? "payrun" : author;
  return `${red("!")} ${what} of ${printable(business)} is on hold: ${printable(reason)} (${printable(by)}, ${spokenTime(createdAt, zone)})  ${dim(id)}`;
}

/** Describes what a hold is on, and what can still be taken back of the rest. */
export function heldLines(held: HeldSums): string[] {
  const { waiting, recallable, underWay, gone, paid, zone, storeBehind } = held;
  const { earliestCutOff } = recallable;
  const { paidByOthers = { bills: 0, totalCents: 0 } } = held;
  const isNothing = [waiting, recallable, underWay, gone, paid, paidByOthers].every(
    ({ bills }) => bills === 0,
  );
  const first = recallable.bills === 1 ? " it until" : " them, the first until";
  const until = earliestCutOff === null ? "" : `${first} ${spokenTime(earliestCutOff, zone)}`;
  return [
    `  ${isNothing ? "no bill on hold: none of it waits to be paid now" : `${sumText(waiting)} on hold`}`,
    ...(recallable.bills === 0
      ? []
      : [`  ${sumText(recallable)} with the service, which can still cancel${until}`]),
    ...(underWay.bills === 0 ? [] : [`  ${sumText(underWay)} on the way to the service`]),
    ...(gone.bills === 0
      ? []
      : [`  ${sumText(gone)} with the bank, or split into several payments: can't be cancelled`]),
    ...(paid.bills === 0 ? [] : [`  ${sumText(paid)} paid already: a hold can't stop that`]),
    ...(paidByOthers.bills === 0
      ? []
      : [`  ${sumText(paidByOthers)} paid outside Payrun, or about to be: a hold can't stop that`]),
    ...(storeBehind ? NOT_COUNTED : []),
    ...(held.othersUnread === true ? ["  Payments made outside Payrun are not counted."] : []),
  ];
}

/** Without this, a restored store would report in an emergency that the service has nothing. */
const NOT_COUNTED = [
  "  The store is older than what was done with it: payments that it has lost are not counted.",
  "  payrun payments --since DAY lists what the service has, payrun cancel-scheduled PAYMENT_ID takes one back.",
];

/**
 * Lists the bills that go out because a hold was lifted, and those that don't although no hold is
 * on them.
 */
export function goesOutLines(freed: GoesOut, isDone: boolean): string[] {
  const others = (freed.notSent ?? []).map((bills) => `  ${printable(notSentText(bills))}`);
  return [...freedLines(freed, isDone), ...others];
}

function freedLines(freed: GoesOut, isDone: boolean): string[] {
  const { bills, totalCents, items } = freed;
  if (bills === 0 && freed.asksAgain !== undefined) return askedAgainLines(freed);
  if (bills === 0)
    return [
      `  No approved bill waited for it alone: nothing ${isDone ? "goes" : "would go"} out because of it.`,
    ];
  const more = bills - Math.min(items.length, ITEMS_SHOWN);
  return [
    `  ${sumText({ bills, totalCents })} ${goOut(freed, isDone ? "now" : "then")}:`,
    ...items
      .slice(0, ITEMS_SHOWN)
      .map((bill) => `    ${nameOf(bill)}, ${formatUsd(bill.amountCents)}`),
    ...(more > 0 ? [dim(`    … ${more} more`)] : []),
    ...askedAgainLines(freed),
  ];
}

/** Describes the bills whose date has passed, and why none of them is paid twice. */
function askedAgainLines(freed: GoesOut): string[] {
  const why = afterLossText(freed);
  return [
    ...(freed.asksAgain === undefined ? [] : [`  ${askedAgainText(freed.asksAgain)}`]),
    ...(why === "" ? [] : [`  ${why}`]),
  ];
}

const ITEMS_SHOWN = 20;

/** Returns `12 bills, $3,400.00,`, to be followed by a statement about them; else `no bill`. */
function sumText({ bills, totalCents }: { readonly bills: number; readonly totalCents: number }) {
  return bills === 0 ? "no bill" : `${counted(bills, "bill")}, ${formatUsd(totalCents)},`;
}
