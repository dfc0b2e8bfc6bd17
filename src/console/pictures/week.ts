import { html } from "hono/html";
import type { Overview } from "../../api/overview.ts";
import { formatUsd } from "../../domain/money.ts";
import { newYorkDate } from "../../domain/clock/new-york.ts";
import { dayText, LINE_WORDS, type Markup, type Tone } from "../words.ts";

type Days = Overview["businesses"][number]["days"];

/** The parts of a day's bar from the bottom up, and what they are called. */
const PARTS: readonly (readonly [Tone, string])[] = [
  ["good", "Settled"],
  ["move", "On its way"],
  ["wait", "Waits"],
  ["bad", "Needs a person"],
  ["plain", "Not paid here"],
];

const WIDTH = 720;
const HEIGHT = 220;
const FLOOR = 180;
const ROOM = 140;

/** What is paid on each day, by what has become of it; the same as a table for whoever can't see it. */
export function weekPicture(days: Days, now: string | null): Markup {
  if (days.length === 0) return html`<p class="quiet">No payment this week or the next.</p>`;
  const sums = days.map(({ date, byState }) => ({ date, parts: partsOf(byState) }));
  const highest = Math.max(...sums.map(({ parts }) => totalOf(parts)), 1);
  const step = WIDTH / Math.max(sums.length, 4);
  const today = now === null ? "" : newYorkDate(Date.parse(now));
  const used = PARTS.filter(([tone]) => sums.some(({ parts }) => (parts.get(tone) ?? 0) > 0));
  return html`<figure>
    <ul class="legend">
      ${used.map(([tone, name]) => html`<li>${swatch(tone)}${name}</li>`)}
    </ul>
    <svg class="picture" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="week-title">
      <title id="week-title">
        ${sums.map(({ date, parts }) => `${dayText(date)}: ${formatUsd(totalOf(parts))}`).join("; ")}
      </title>
      <line class="axis" x1="0" x2="${WIDTH}" y1="${FLOOR}" y2="${FLOOR}" />
      ${sums.map(({ date, parts }, index) => {
        const middle = index * step + step / 2;
        const width = Math.min(64, step * 0.6);
        const total = totalOf(parts);
        return html`${bars(parts, { left: middle - width / 2, width, highest })}
          <text
            class="strong"
            x="${middle}"
            y="${FLOOR - (total / highest) * ROOM - 8}"
            text-anchor="middle"
            >${short(total)}</text
          >
          <text
            class="${date === today ? "strong" : ""}"
            x="${middle}"
            y="${FLOOR + 20}"
            text-anchor="middle"
            >${date === today ? "Today" : dayText(date)}</text
          >`;
      })}
    </svg>
  </figure>`;
}

function bars(
  parts: ReadonlyMap<Tone, number>,
  at: { readonly left: number; readonly width: number; readonly highest: number },
): Markup {
  let below = FLOOR;
  const made = PARTS.flatMap(([tone]) => {
    const height = ((parts.get(tone) ?? 0) / at.highest) * ROOM;
    if (height <= 0) return [];
    below -= height;
    return [
      html`<rect
        class="p-${tone}"
        x="${at.left}"
        y="${below.toFixed(1)}"
        width="${at.width}"
        height="${height.toFixed(1)}"
      />`,
    ];
  });
  return html`${made}`;
}

function swatch(tone: Tone): Markup {
  return html`<svg viewBox="0 0 10 10" aria-hidden="true">
    <rect class="p-${tone}" width="10" height="10" rx="2" />
  </svg>`;
}

function partsOf(byState: Days[number]["byState"]): ReadonlyMap<Tone, number> {
  const parts = new Map<Tone, number>();
  for (const [state, { word: _, tone }] of Object.entries(LINE_WORDS)) {
    const cents = Object.entries(byState).find(([name]) => name === state)?.[1]?.cents ?? 0;
    parts.set(tone, (parts.get(tone) ?? 0) + cents);
  }
  return parts;
}

function totalOf(parts: ReadonlyMap<Tone, number>): number {
  return [...parts.values()].reduce((sum, cents) => sum + cents, 0);
}

/** `$24.5k`, as much as a bar has room for. */
function short(cents: number): string {
  const dollars = cents / 100;
  if (dollars >= 1_000_000) return `$${(dollars / 1_000_000).toFixed(1)}M`;
  return dollars >= 1_000 ? `$${(dollars / 1_000).toFixed(1)}k` : `$${dollars.toFixed(0)}`;
}
