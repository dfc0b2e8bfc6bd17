import { html } from "hono/html";
import type { RunReview } from "../../api/review.ts";
import { formatUsd } from "../../domain/money.ts";
import type { Markup } from "../words.ts";

type Account = RunReview["accounts"][number];

const WIDTH = 720;
const BAR = 28;

/** What an account has before these bills and after them; nothing where nobody can tell. */
export function cashPicture(account: Account): Markup | "" {
  const { availableCents, promisedCents, afterCents, bills } = account;
  if (availableCents === null || afterCents === null) return "";
  const promised = promisedCents ?? 0;
  const needed = promised + bills.cents;
  const scale = WIDTH / Math.max(availableCents, needed, 1);
  const wide = (cents: number) => (Math.max(0, cents) * scale).toFixed(1);
  const shortBy = afterCents < 0 ? -afterCents : 0;
  const said = `${formatUsd(availableCents)} before; ${formatUsd(promised)} promised to other runs, ${formatUsd(bills.cents)} for these bills; ${shortBy > 0 ? `${formatUsd(shortBy)} are missing` : `${formatUsd(afterCents)} left`}`;
  return html`<figure>
    <svg class="picture" viewBox="0 0 ${WIDTH} ${2 * BAR + 58}" role="img" aria-label="${said}">
      <text x="0" y="12">Before: ${formatUsd(availableCents)}</text>
      <rect class="p-good" x="0" y="18" width="${wide(availableCents)}" height="${BAR}" rx="3" />
      <text x="0" y="${BAR + 40}">
        After: ${shortBy > 0 ? `${formatUsd(shortBy)} missing` : formatUsd(afterCents)}
      </text>
      <rect class="p-plain" x="0" y="${BAR + 46}" width="${wide(promised)}" height="${BAR}" />
      <rect
        class="p-move"
        x="${wide(promised)}"
        y="${BAR + 46}"
        width="${wide(bills.cents)}"
        height="${BAR}"
      />
      ${shortBy > 0 ? html`<rect class="p-bad" x="${wide(availableCents)}" y="${BAR + 46}" width="${wide(shortBy)}" height="${BAR}" />` : html`<rect class="p-good" x="${wide(needed)}" y="${BAR + 46}" width="${wide(afterCents)}" height="${BAR}" />`}
    </svg>
    <ul class="legend">
      ${promised > 0 ? html`<li>${swatch("plain")}Promised to other runs</li>` : ""}
      <li>${swatch("move")}These bills</li>
      ${shortBy > 0 ? html`<li>${swatch("bad")}Missing</li>` : html`<li>${swatch("good")}Left</li>`}
    </ul>
  </figure>`;
}

function swatch(tone: string): Markup {
  return html`<svg viewBox="0 0 10 10" aria-hidden="true">
    <rect class="p-${tone}" width="10" height="10" rx="2" />
  </svg>`;
}
