import { html } from "../html.ts";
import type { RunReview } from "../../api/review.ts";
import { isShort, leftNowCents, whenPlanned } from "../../domain/approvals/money-reach.ts";
import { formatUsd } from "../../domain/money.ts";
import { note } from "../elements.ts";
import type { Markup } from "../words.ts";
import { nameOfAccount } from "./run-bills.ts";

/** Notes on accounts that don't cover all bills of a plan, or whose current balance is unknown. */
export function moneyNotes({ accounts, zone }: Pick<RunReview, "accounts" | "zone">): Markup[] {
  return accounts
    .filter((account) => isShort(account) || account.asOf !== undefined)
    .map((account) => noteOn(account, zone));
}

function noteOn(account: RunReview["accounts"][number], zone: string): Markup {
  const { asOf } = account;
  const cents = formatUsd(-(leftNowCents(account) ?? 0));
  const then = "of what you approve only what it covers goes out, and the rest waits for money.";
  if (asOf === undefined) {
    const title = `${nameOfAccount(account)} doesn’t cover all of it`;
    return note("warn", html`<p>It is short by ${cents}: ${then}</p>`, title);
  }
  const had = isShort(account) ? `It was short by ${cents}` : "It covered all of it";
  return note(
    isShort(account) ? "warn" : "info",
    html`<p>${had} ${whenPlanned(asOf, zone)}: ${then}</p>`,
    `The service doesn’t say what ${nameOfAccount(account)} has now`,
  );
}
