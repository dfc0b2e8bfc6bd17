import { html } from "../html.ts";
import type { Overview, WaitingDeposit } from "../../api/overview.ts";
import { depositPage, runPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { section } from "../elements.ts";
import { dayText, type Markup, usd } from "../words.ts";
import { depositNeeds } from "./deposit.ts";

/** `1 deposit of $8,046.74`; empty if there is none. */
export function sumOfDeposits(deposits: Overview["deposits"]): string {
  if (deposits.length === 0) return "";
  const cents = sumCents(deposits.map(({ amountCents }) => amountCents));
  return `${counted(deposits.length, "deposit")} of ${formatUsd(cents)}`;
}

/**
 * Builds a deposit's entry, for the list of what waits for a person, with a link to decide about
 * it.
 */
export function depositItem(deposit: WaitingDeposit, isShown: boolean): Markup {
  const { runId, playbook, period, business, amountCents, yours } = deposit;
  return html`<li>
    <span class="what"
      ><a href="${pageOf(deposit)}">Deposit for ${playbook} ${period}</a
      >${isShown ? ` (${business})` : ""}
      <span class="under"
        >From ${accountOf(deposit)} into the balance;
        ${yours ? "it waits for you" : `it needs ${depositNeeds(deposit)}`}.
        <a href="${runPage(runId)}">The run</a></span
      ></span
    >
    <span>${usd(amountCents)}<span class="under">${deadlineOf(deposit)}</span></span>
  </li>`;
}

/** Builds a deposit's section, for the page of what needs action. */
export function depositSection(deposit: WaitingDeposit): Markup {
  const { runId, playbook, period, amountCents, neededOn } = deposit;
  return section(
    `A deposit of ${formatUsd(amountCents)} for ${playbook} ${period} waits for approval`,
    html`<p>
        From ${accountOf(deposit)} into the balance, needed on ${dayText(neededOn)}:
        ${deadlineOf(deposit)}. It needs ${depositNeeds(deposit)}.
        <a href="${runPage(runId)}">The run</a>
      </p>
      <div class="acts">
        <a class="button" href="${pageOf(deposit)}">Decide about the deposit</a>
      </div>`,
    `deposit-${runId.replaceAll(/[^\w]+/g, "-")}`,
  );
}

function pageOf({ runId, hash, planHash }: WaitingDeposit): string {
  return depositPage(runId, hash, planHash);
}

function accountOf({ account: { name, last4 } }: WaitingDeposit): string {
  return `${name ?? "bank account"}${last4 === null ? "" : ` ••${last4}`}`;
}

function deadlineOf({ makeBy, arrivesOn, late }: WaitingDeposit): Markup {
  return late
    ? html`too late for its day: made now, it is there on ${dayText(arrivesOn)}`
    : html`to be made by ${dayText(makeBy)}`;
}
