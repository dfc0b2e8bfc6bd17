import { html } from "../html.ts";
import type { Overview } from "../../api/overview.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import { formatUsd } from "../../domain/money.ts";
import { dayText, LINE_WORDS, type Markup, usd } from "../words.ts";
import type { Tone } from "../../contracts/line-states.ts";

type Days = Overview["businesses"][number]["days"];

/**
 * The parts of a day's bar from the left, with their names. Bills that are not paid after all don't
 * count for the day: a bill that was cancelled and planned again would appear once for each run.
 */
const PARTS: readonly (readonly [Tone, string])[] = [
  ["good", "Settled"],
  ["move", "On its way"],
  ["wait", "Waits"],
  ["bad", "Needs a person"],
];

const WIDTH = 100;

/** The least width of a part, so that even a small one is visible. */
const LEAST = WIDTH / 150;

/** Draws what is paid on each day, by state: one bar a day, which also fits a phone. */
export function weekPicture(days: Days, now: string | null): Markup {
  const sums = days
    .map(({ date, byState }) => ({ date, parts: partsOf(byState) }))
    .filter(({ parts }) => totalOf(parts) > 0);
  if (sums.length === 0) return html`<p class="quiet">No payment this week or the next.</p>`;
  const highest = Math.max(...sums.map(({ parts }) => totalOf(parts)), 1);
  const today = now === null ? "" : newYorkDate(Date.parse(now));
  const used = PARTS.filter(([tone]) => sums.some(({ parts }) => (parts.get(tone) ?? 0) > 0));
  return html`<figure>
    <ul class="legend">
      ${used.map(([tone, name]) => html`<li>${swatch(tone)}${name}</li>`)}
    </ul>
    <ul class="days">
      ${sums.map(
        ({ date, parts }) =>
          html`<li>
            <span>${date === today ? html`<strong>Today</strong>` : dayText(date)}</span>
            ${bar(parts, highest)}
            <span class="n">${usd(totalOf(parts))}</span>
          </li>`,
      )}
    </ul>
  </figure>`;
}

function bar(parts: ReadonlyMap<Tone, number>, highest: number): Markup {
  const shown = PARTS.filter(([tone]) => (parts.get(tone) ?? 0) > 0);
  const said = shown.map(([tone, name]) => `${name}: ${formatUsd(parts.get(tone) ?? 0)}`);
  let left = 0;
  const rects = shown.map(([tone]) => {
    const width = Math.max(((parts.get(tone) ?? 0) / highest) * WIDTH, LEAST);
    const at = left;
    left += width;
    return html`<rect
      class="p-${tone}"
      x="${at.toFixed(2)}"
      y="0"
      width="${width.toFixed(2)}"
      height="10"
    />`;
  });
  return html`<svg
    viewBox="0 0 ${WIDTH} 10"
    preserveAspectRatio="none"
    role="img"
    aria-label="${said.join("; ")}"
  >
    ${rects}
  </svg>`;
}

function swatch(tone: Tone): Markup {
  return html`<svg viewBox="0 0 10 10" aria-hidden="true">
    <rect class="p-${tone}" width="10" height="10" rx="2" />
  </svg>`;
}

function partsOf(byState: Days[number]["byState"]): ReadonlyMap<Tone, number> {
  const parts = new Map<Tone, number>();
  for (const [state, { word: _, tone }] of Object.entries(LINE_WORDS)) {
    if (!PARTS.some(([shown]) => shown === tone)) continue;
    const cents = Object.entries(byState).find(([name]) => name === state)?.[1]?.cents ?? 0;
    parts.set(tone, (parts.get(tone) ?? 0) + cents);
  }
  return parts;
}

function totalOf(parts: ReadonlyMap<Tone, number>): number {
  return [...parts.values()].reduce((sum, cents) => sum + cents, 0);
}
