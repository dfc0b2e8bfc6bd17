import { html } from "../html.ts";
import type { RunReview } from "../../api/review.ts";
import { formatUsd } from "../../domain/money.ts";
import { type Markup, usd } from "../words.ts";

type Account = RunReview["accounts"][number];

const WIDTH = 720;
const BAR = 28;

/** Draws what an account has before these bills and after them; empty if its balance is unknown. */
export function cashPicture(account: Account): Markup | "" {
  const { promisedCents, depositedCents = 0, afterCents, bills } = account;
  if (account.availableCents === null || afterCents === null) return "";
  const availableCents = account.availableCents + depositedCents;
  const before = beforeText(account, account.availableCents);
  const promised = promisedCents ?? 0;
  const needed = promised + bills.cents;
  const scale = WIDTH / Math.max(availableCents, needed, 1);
  const wide = (cents: number) => (Math.max(0, cents) * scale).toFixed(1);
  const shortBy = afterCents < 0 ? -afterCents : 0;
  const said = `${before}; ${formatUsd(promised)} promised to other runs, ${formatUsd(bills.cents)} for these bills; ${shortBy > 0 ? `${formatUsd(shortBy)} are missing` : `${formatUsd(afterCents)} left`}`;
  return html`<figure>
    <p class="of-strip">${before}</p>
    ${bar(html`<rect class="p-good" x="0" width="${wide(availableCents)}" height="${BAR}" />`)}
    <p class="of-strip">
      After: ${shortBy > 0 ? `${formatUsd(shortBy)} missing` : formatUsd(afterCents)}
    </p>
    ${bar(
      html`<rect class="p-plain" x="0" width="${wide(promised)}" height="${BAR}" />
        <rect class="p-move" x="${wide(promised)}" width="${wide(bills.cents)}" height="${BAR}" />
        ${shortBy > 0 ? html`<rect class="p-bad" x="${wide(availableCents)}" width="${wide(shortBy)}" height="${BAR}" />` : html`<rect class="p-good" x="${wide(needed)}" width="${wide(afterCents)}" height="${BAR}" />`}`,
      said,
    )}
    <ul class="legend">
      ${promised > 0 ? html`<li>${swatch("plain")}Promised to other runs: ${usd(promised)}</li>` : ""}
      <li>${swatch("move")}These bills: ${usd(bills.cents)}</li>
      ${shortBy > 0 ? html`<li>${swatch("bad")}Missing: ${usd(shortBy)}</li>` : html`<li>${swatch("good")}Left: ${usd(afterCents)}</li>`}
    </ul>
  </figure>`;
}

/**
 * `Now: $90.00, and $60.00 on its way`; with the balance at planning time `Before: $150.00, with
 * …`.
 */
function beforeText({ asOf, depositedCents = 0 }: Account, availableCents: number): string {
  const deposited = formatUsd(depositedCents);
  if (asOf === undefined) {
    return `Now: ${formatUsd(availableCents)}${depositedCents === 0 ? "" : `, and ${deposited} on its way`}`;
  }
  const since = depositedCents === 0 ? "" : `, with ${deposited} deposited since`;
  return `Before: ${formatUsd(availableCents + depositedCents)}${since}`;
}

/** Draws a bar. Its text is beside it: a phone would shrink text inside. */
function bar(rects: unknown, said?: string): Markup {
  const role =
    said === undefined ? html`aria-hidden="true"` : html`role="img" aria-label="${said}"`;
  return html`<svg
    class="picture strip"
    viewBox="0 0 ${WIDTH} ${BAR}"
    preserveAspectRatio="none"
    ${role}
  >
    ${rects}
  </svg>`;
}

function swatch(tone: string): Markup {
  return html`<svg viewBox="0 0 10 10" aria-hidden="true">
    <rect class="p-${tone}" width="10" height="10" rx="2" />
  </svg>`;
}
