import { html } from "../html.ts";
import { type ReviewedBill, type RunReview } from "../../api/review.ts";
import { billPage, runPage, vendorPage } from "../../contracts/console-pages.ts";
import { whenPlanned } from "../../domain/approvals/money-reach.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { foldedUp, hidden, section, pageTable, tick, type PageColumn } from "../elements.ts";
import type { PageRequest } from "../page.ts";
import { cashPicture } from "../pictures/cash.ts";
import {
  amountInState,
  badge,
  dayText,
  type Markup,
  billStateOf,
  usd,
  wholeNumber,
} from "../words.ts";

/** Decisions that the visitor is offered. */
export interface May {
  readonly approve: boolean;
  readonly reject: boolean;
  readonly hold: boolean;
}

/**
 * Shows flagged bills with their reasons, late ones, the money, then all bills. It is one form, so
 * that bills can be left out.
 */
export function billsForm(request: PageRequest, review: RunReview, may: May): Markup {
  const { id, planHash, odd, late } = review;
  const mayDecide = may.approve;
  const out = new Set(request.query.getAll("out"));
  const above = new Set(mayDecide ? odd.items.map(({ payableId }) => payableId) : []);
  const here = new Set([...above, ...review.bills.map(({ payableId }) => payableId)]);
  const elsewhere = [...out].filter((payableId) => !here.has(payableId));
  const content = html` ${odd.count === 0 ? "" : section(`Odd: ${counted(odd.count, "bill")}`, oddList(review, may.hold, mayDecide ? out : undefined), "odd")}
  ${late.count === 0 ? "" : section(`Late: ${counted(late.count, "bill")}`, lateTable(review), "late")}
  ${section(review.waiting.count === 0 ? "Money" : "Money before and after", money(review), "money")}
  ${may.reject ? decide(review, may, out.size) : ""}
  ${section(`All bills (${wholeNumber(review.totalCount)})`, html`${billTable(review, { out, above, mayDecide })}${pages(review, mayDecide)}`, "bills")}`;
  if (!mayDecide) return content;
  return html`<form action="${runPage(id)}/approve">
    ${hidden("plan", planHash ?? "")}${elsewhere.map((payableId) => hidden("out", payableId))}
    ${content}
  </form>`;
}

function decide({ id, planHash }: RunReview, may: May, out: number): Markup {
  return section(
    "Your decision",
    html`<p>
        ${!may.approve ? "Your approval would not count. You may reject the plan." : out === 0 ? "Tick what is to be left out, above or among all bills below. The next page shows what you approve, before anything is decided." : `${counted(out, "bill")} ticked to be left out so far. The next page shows what you approve before anything is decided.`}
      </p>
      <div class="acts">
        ${may.approve ? html`<button>Check and approve</button>` : ""}
        <a
          class="button quiet"
          href="${runPage(id)}/reject?plan=${encodeURIComponent(planHash ?? "")}"
          >Reject the plan</a
        >
      </div>`,
    "decide",
  );
}

function vendorLinks(
  { contactId }: ReviewedBill,
  business: string,
  mayHold: boolean,
): Markup | string {
  if (contactId === null) return "";
  const hold = `${vendorPage(contactId).split("?")[0] ?? ""}/hold?business=${encodeURIComponent(business)}`;
  return html`<span class="under"
    ><a href="${vendorPage(contactId, business)}">Vendor</a
    >${mayHold ? html` · <a href="${hold}">Hold the vendor</a>` : ""}</span
  >`;
}

function oddList(
  { odd, business }: RunReview,
  mayHold: boolean,
  out: ReadonlySet<string> | undefined,
): Markup {
  const more = odd.count - odd.items.length;
  return html`<ul class="list">
      ${odd.items.map(
        (bill) =>
          html`<li>
            <span class="what"
              >${billLink(bill, business)}
              ${bill.flags.map(({ text }) => html`<span class="under why">${text}</span>`)}
              ${bill.reason === null ? "" : html`<span class="under why">${bill.reason}</span>`}
              <span class="under">${lastPayments(bill)}</span>
              ${vendorLinks(bill, business, mayHold)}</span
            >
            <span
              >${amountInState(bill)}<span class="under"
                >due ${dayText(bill.dueDate)}, pays ${dayText(bill.executionDate)}</span
              >
              ${out === undefined || !isOpen(bill) ? badge(billStateOf(bill)) : leaveOut(bill, out)}</span
            >
          </li>`,
      )}
    </ul>
    ${more > 0 ? html`<p class="quiet">And ${wholeNumber(more)} more, smaller ones: they stand among all bills below, with their reasons.</p>` : ""}`;
}

function lastPayments({ lastPayments: last }: RunReview["odd"]["items"][number]): Markup | string {
  if (last === null) return "Its last payments can’t be read now.";
  if (last.length === 0) return "No payment to this vendor before.";
  return html`Last payments:
  ${last.map(({ amountCents, on, status }, index) => html`${index === 0 ? "" : "; "}${formatUsd(amountCents)} on ${dayText(on)} (${status})`)}`;
}

/** Returns true if the bill may still be left out. */
function isOpen({ missing, state }: ReviewedBill): boolean {
  return missing !== null || state === "on-hold";
}

function leaveOut(bill: ReviewedBill, out: ReadonlySet<string>): Markup {
  return html`<label class="choice"
    ><input
      type="checkbox"
      name="out"
      value="${bill.payableId}"
      ${out.has(bill.payableId) ? "checked" : ""}
    /><span>Leave out<span class="hidden"> ${nameOf(bill)}</span></span></label
  >`;
}

function nameOf({
  publicId,
  payableId,
  contactName,
}: Pick<ReviewedBill, "publicId" | "payableId" | "contactName">): string {
  return `${publicId ?? payableId}${contactName === null ? "" : `, ${contactName}`}`;
}

export function billLink(
  bill: Pick<ReviewedBill, "publicId" | "payableId" | "contactName">,
  business: string,
): Markup {
  return html`<a href="${billPage(bill.payableId, business)}"
      >${bill.contactName ?? bill.payableId}</a
    ><span class="under">${bill.publicId ?? bill.payableId}</span>`;
}

/** Late bills shown at once. The rest are folded, because the decision is below them. */
const LATE_AT_ONCE = 5;

function lateTable({ late, business }: RunReview): Markup {
  const columns: PageColumn<ReviewedBill>[] = [
    { title: "Bill", isHead: true, cell: (bill) => billLink(bill, business) },
    { title: "Due", cell: ({ dueDate }) => dayText(dueDate) },
    { title: "Arrives", cell: ({ arrivalDate }) => dayText(arrivalDate) },
    { title: "Late by", cell: ({ daysLate }) => counted(daysLate, "day") },
    { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
  ];
  const more = late.count - late.items.length;
  const rest = late.items.slice(LATE_AT_ONCE);
  const folds = html`${pageTable("Less late than those above", columns, rest)}${more > 0 ? html`<p class="quiet">And ${wholeNumber(more)} more.</p>` : ""}`;
  return html`${pageTable("The latest first", columns, late.items.slice(0, LATE_AT_ONCE))}
  ${rest.length === 0 ? "" : foldedUp(counted(late.count - LATE_AT_ONCE, "more late bill"), folds)}`;
}

function money({ accounts, waiting, zone }: RunReview): Markup {
  if (accounts.length === 0) return html`<p class="quiet">No account pays for it.</p>`;
  return html`${accounts.map(
    (account) =>
      html`<h3>${nameOfAccount(account)}</h3>
        ${account.asOf === undefined ? "" : html`<p>The service doesn’t say what it has now. This is the money ${whenPlanned(account.asOf, zone)}.</p>`}
        ${cashPicture(account)}
        ${account.availableCents === null ? html`<p>${counted(account.bills.count, "bill")} of ${formatUsd(account.bills.cents)}${waiting.count === 0 ? "" : "; nobody can tell what the account has"}.</p>` : ""}`,
  )}`;
}

function billTable(
  { bills: shown, business }: RunReview,
  {
    out,
    above,
    mayDecide,
  }: {
    readonly out: ReadonlySet<string>;
    readonly above: ReadonlySet<string>;
    readonly mayDecide: boolean;
  },
): Markup {
  const state: PageColumn<ReviewedBill> = {
    title: "State",
    cell: ({ missing, approvedBy, reason, ...bill }) =>
      html`${missing === null ? badge(billStateOf(bill)) : `waits for ${missing.by.join(" or ")}${missing.quorum > 1 ? ` (${missing.approvals} of ${missing.quorum})` : ""}`}
      ${approvedBy.length === 0 ? "" : html`<span class="under">approved by ${approvedBy.join(", ")}</span>`}
      ${reason === null ? "" : html`<span class="under why">${reason}</span>`}`,
  };
  const columns: PageColumn<ReviewedBill>[] = [
    {
      title: "Bill",
      isHead: true,
      cell: (bill) =>
        html`${billLink(bill, business)}${bill.flags.map(({ text }) => html`<span class="under why">${text}</span>`)}`,
    },
    { title: "Due", cell: ({ dueDate }) => dayText(dueDate) },
    { title: "Pays", cell: ({ executionDate }) => dayText(executionDate) },
    { title: "Arrives", cell: ({ arrivalDate }) => dayText(arrivalDate) },
    state,
    { title: "Amount", isNumber: true, cell: amountInState },
    ...(mayDecide
      ? [
          {
            title: "Leave out",
            cell: (bill: ReviewedBill) =>
              above.has(bill.payableId)
                ? html`<a href="#odd">above</a>`
                : isOpen(bill)
                  ? tick(
                      {
                        name: "out",
                        value: bill.payableId,
                        isTicked: out.has(bill.payableId),
                      },
                      `Leave out ${nameOf(bill)}`,
                    )
                  : "–",
          },
        ]
      : []),
  ];
  return pageTable("In the plan’s order", columns, shown);
}

/**
 * Links to the pages of the list. Inside the form the links are its buttons, so that ticks are
 * kept.
 */
function pages({ id, page, pageSize, totalCount }: RunReview, mayDecide: boolean): Markup | "" {
  const count = Math.ceil(totalCount / pageSize);
  if (count <= 1) return "";
  const turn = (to: number, text: string) => {
    if (to < 1 || to > count) return "";
    return mayDecide
      ? html`<button class="quiet" name="page" value="${to}" formaction="${runPage(id)}#bills">
          ${text}
        </button>`
      : html`<a href="${runPage(id)}?page=${to}#bills">${text}</a>`;
  };
  return html`<div class="pager">
    ${turn(page - 1, "← Before")}<span>Page ${wholeNumber(page)} of ${wholeNumber(count)}</span
    >${turn(page + 1, "Next →")}
  </div>`;
}

export function nameOfAccount({
  name,
  last4,
  sourceId,
}: Pick<RunReview["accounts"][number], "name" | "last4" | "sourceId">): string {
  return `${name ?? sourceId}${last4 === null ? "" : ` ··${last4}`}`;
}
