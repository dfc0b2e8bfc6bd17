import type { ReviewedBill, RunReview } from "../../api/review.ts";
import { changeIn, wordCommand } from "../../domain/approvals/changed-records.ts";
import { isShort, leftNowCents, whenPlanned } from "../../domain/approvals/money-reach.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { missingText } from "../../domain/approvals/share-texts.ts";
import { counted, waits } from "../../domain/counted.ts";
import { shownAmount } from "../../domain/payments/line-parts.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { shownBillState } from "../../domain/runs/given-back.ts";
import { changedRecordLines } from "./changed-records.ts";
import { deadlineText } from "./deadline.ts";
import { topUpLines } from "./deposit.ts";
import { leftText, nameOf } from "./plan.ts";
import { outcomeLines, phaseText, planOnlyLines, waitsForLines } from "./run.ts";
import { bold, dim, fitting, printable, textTable, yellow } from "../terminal/text.ts";

/** Names the run and where it stands. */
export function reviewHead(review: RunReview): string[] {
  const { id, phase, playbook, business, period, launchedBy, planHash, waitingFor } = review;
  const facts = [
    `${playbook}, ${business}, ${period}`,
    `launched by ${printable(launchedBy)}`,
    ...(planHash === null ? [] : [`plan ${planHash.slice(0, 12)}`]),
  ];
  return [
    `${bold(id)}  ${phaseText(phase)}`,
    dim(facts.join(" · ")),
    ...outcomeLines(review),
    ...waitsForLines(waitingFor),
    ...(review.failure === undefined ? [] : [`Failed: ${printable(review.failure)}`]),
  ];
}

/** Lists bills with their dates, and the approvers that each waits for, or its state. */
export function billLines(bills: readonly ReviewedBill[]): string[] {
  if (bills.length === 0) return [];
  const rows = bills.map((bill) => [
    nameOf(bill),
    shownAmount(bill),
    bill.dueDate ?? "–",
    bill.executionDate ?? "–",
    bill.arrivalDate ?? "–",
    waitsForText(bill),
  ]);
  const columns = [
    { title: "Bill" },
    { title: "Amount", align: "right" },
    { title: "Due" },
    { title: "Pays on" },
    { title: "Arrives" },
    { title: "Waits for" },
  ] as const;
  return textTable(columns, rows);
}

/** Returns the approvers that a bill waits for, and if it is also on hold; otherwise its state. */
function waitsForText(bill: ReviewedBill): string {
  if (bill.missing === null) return shownBillState(bill);
  const isWord = bill.missing.aboutRecord === true;
  const why = isWord ? ` (${changeIn(bill.reason)})` : bill.because && `: ${bill.because}`;
  const people = printable(`${missingText(bill.missing)}${why ?? ""}`);
  return bill.state === "on-hold" ? `${people}; on hold` : people;
}

/**
 * Summarizes what to know before a decision; the sums, the deadline and the reader's own share come
 * last.
 */
export function reviewDigest(review: RunReview): string[] {
  return [
    ...oddLines(review),
    ...changedRecords(review),
    ...lateLines(review),
    ...fitting([...leftOutLines(review), ...accountLines(review)]),
    ...topUpLines(review.topUps),
    ...fitting(sumLines(review)),
  ];
}

function sumLines(review: RunReview): string[] {
  const { plan, waiting, decideBy, yours, warnings } = review;
  return [
    ...warnings.map((warning) => yellow(printable(warning))),
    "",
    ...(review.planOnly === true
      ? planOnlyLines(review, plan)
      : [
          `${bold(counted(plan.count, "bill"))}, ${bold(formatUsd(plan.cents))}; ${waitText(review)}.`,
          ...(decideBy === null ? [] : [deadlineText(decideBy, review)]),
          // Whose approval counts doesn't matter if no bill waits for one.
          ...(yours.refusal !== null && waiting.count === 0 ? [] : [printable(yours.summary)]),
        ]),
  ];
}

function waitText({ id, waiting, missing }: RunReview): string {
  const words = missing.filter(({ aboutRecord }) => aboutRecord === true);
  const count = words.reduce((sum, { lines }) => sum + lines, 0);
  const cents = sumCents(words.map(({ totalCents }) => totalCents));
  const bills = waiting.count - count;
  return [
    bills === 0
      ? "none waits for an approval"
      : `${bills.toLocaleString("en-US")} ${waits(bills)} for approval, ${formatUsd(waiting.cents - cents)}`,
    ...(count === 0
      ? []
      : [
          `${count.toLocaleString("en-US")} ${waits(count)} only for one word, whether the vendor's account is still right, ${formatUsd(cents)}: ${wordCommand(shortName(id))}`,
        ]),
  ].join("; ");
}

function oddLines({ odd }: RunReview): string[] {
  if (odd.count === 0) return [];
  const rows = odd.items.flatMap((bill) => [
    ...bill.flags
      .filter(({ kind }) => kind !== "late")
      .map(({ kind, text }, index) => [
        index === 0 ? nameOf(bill) : "",
        index === 0 ? formatUsd(bill.amountCents) : "",
        `${yellow(kind)}: ${printable(text)}`,
      ]),
    ["", "", dim(lastPaymentsText(bill.lastPayments))],
  ]);
  return [
    "",
    `${bold("Worth a look")} (${counted(odd.count, "bill")}):`,
    ...textTable([{}, { align: "right" }, {}], rows),
    ...moreLine(odd),
  ];
}

function lastPaymentsText(payments: RunReview["odd"]["items"][number]["lastPayments"]): string {
  if (payments === null) return "earlier payments to this vendor can't be read now";
  if (payments.length === 0) return "no earlier payment to this vendor";
  const paid = payments.map(({ amountCents, on, status }) =>
    printable(`${formatUsd(amountCents)} on ${on} (${status})`),
  );
  return `last payments: ${paid.join(", ")}`;
}

/** Lists the vendors of whom the reader may say that the account is still right. */
function changedRecords({ id, changedRecords: records }: RunReview): string[] {
  if (records.length === 0) return [];
  return [
    "",
    `${bold("Is the account still right?")} (${counted(records.length, "vendor")}): ${wordCommand(shortName(id))}`,
    ...changedRecordLines(records.slice(0, VENDORS_NAMED)).map((line) => `  ${line}`),
    ...(records.length > VENDORS_NAMED ? [`  and ${records.length - VENDORS_NAMED} more`] : []),
  ];
}

/** Vendors with a changed record that are named; the rest are counted. */
const VENDORS_NAMED = 25;

function lateLines({ late }: RunReview): string[] {
  if (late.count === 0) return [];
  const rows = late.items.map((bill) => [
    nameOf(bill),
    formatUsd(bill.amountCents),
    `due ${bill.dueDate ?? ""}, arrives ${bill.arrivalDate ?? ""}: ${counted(bill.daysLate, "day")} late`,
  ]);
  const isAsked = late.items.some(({ missing }) => missing !== null);
  return [
    "",
    `${bold("Late")} (${counted(late.count, "bill")})${isAsked ? ", even if approved at once" : ""}:`,
    ...textTable([{}, { align: "right" }, {}], rows),
    ...moreLine(late),
  ];
}

function moreLine({ count: all, items }: { count: number; items: readonly unknown[] }): string[] {
  const more = all - items.length;
  return more <= 0 ? [] : [dim(`and ${more.toLocaleString("en-US")} more`)];
}

function leftOutLines({ leftOut }: RunReview): string[] {
  if (leftOut.count === 0) return [];
  const reasons = leftOut.byReason.map(({ count: bills, reason }) => `${bills} ${reason}`);
  return ["", `${bold("Left out")} (${counted(leftOut.count, "bill")}): ${reasons.join(", ")}`];
}

function accountLines({ accounts, zone }: RunReview): string[] {
  return [
    ...(accounts.length === 0 ? [] : [""]),
    ...accounts.map((of) => {
      const { name, kind, last4, bills, asOf, availableCents, promisedCents, afterCents } = of;
      const account = `${printable(name ?? kind)}${last4 === null ? "" : ` …${last4}`}`;
      const what = `From ${account}: ${counted(bills.count, "bill")}, ${formatUsd(bills.cents)}`;
      if (availableCents === null || afterCents === null) return `${what}.`;
      const promised =
        (promisedCents ?? 0) === 0
          ? ""
          : `, ${formatUsd(promisedCents ?? 0)} of it promised to other runs`;
      const had = formatUsd(availableCents);
      const has = asOf === undefined ? `${had} now` : `${whenPlanned(asOf, zone)}: ${had} before`;
      return `${what}; ${has}${promised}${depositedText(of)}, ${leftText(afterCents, "after")}.`;
    }),
  ];
}

/**
 * Returns `, $300.00 deposited and on its way`; with the plan's figures, `, $300.00 deposited
 * since`.
 */
function depositedText({ asOf, ...of }: Account): string {
  const { depositedCents, onItsWayCents } = of;
  if (depositedCents === undefined) return "";
  const onItsWay =
    onItsWayCents === undefined || onItsWayCents === 0
      ? ""
      : onItsWayCents === depositedCents
        ? " and on its way"
        : `, ${formatUsd(onItsWayCents)} of it on its way`;
  return `, ${formatUsd(depositedCents)} deposited${asOf === undefined ? "" : " since"}${onItsWay}`;
}

type Account = RunReview["accounts"][number];

/**
 * Lists the accounts that lack money for what an approval releases, or whose balance the service
 * doesn't report.
 */
export function shortLines({
  accounts,
  zone,
}: Pick<RunReview, "accounts"> & { readonly zone?: string }): string[] {
  return accounts.flatMap((account) => {
    const { asOf } = account;
    const name = printable(account.name ?? account.kind);
    const what = isShort(account)
      ? `${leftText(leftNowCents(account) ?? 0, "")} for all bills of the plan`
      : undefined;
    const waits = "what it doesn't cover waits for money.";
    if (asOf === undefined) return what === undefined ? [] : [`  ${name} is ${what}: ${waits}`];
    return [
      `  The service doesn't say what ${name} has now; ${whenPlanned(asOf, zone)}, it ${what === undefined ? "had enough" : `was ${what}`}: ${waits}`,
    ];
  });
}
