import { html } from "../html.ts";
import { countOf } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { shownSums } from "../../domain/runs/given-back.ts";
import { LINE_WORDS, type Markup, usd } from "../words.ts";
import type { Tone } from "../../contracts/line-states.ts";
import { pageTable } from "../elements.ts";

const WIDTH = 720;

type Sums = Parameters<typeof shownSums>[0];

interface Part {
  readonly word: string;
  readonly tone: Tone;
  readonly bills: string;
  readonly cents: number;
}

/** Draws how far a run's money is: one bar, and its parts as a table. */
export function progressPicture(sums: Sums): Markup {
  const parts = partsOf(sums);
  const total = parts.reduce((sum, { cents }) => sum + cents, 0);
  if (parts.length === 0) return html`<p class="quiet">No bill yet.</p>`;
  let left = 0;
  const rects = parts.map(({ tone, cents }) => {
    const width = total === 0 ? 0 : (cents / total) * WIDTH;
    const at = left;
    left += width;
    return html`<rect
      class="p-${tone}"
      x="${at.toFixed(1)}"
      y="0"
      width="${Math.max(0, width - 1.5).toFixed(1)}"
      height="22"
    />`;
  });
  const said = parts.map(({ word, cents }) => `${word}: ${formatUsd(cents)}`).join("; ");
  return html`<figure>
      <svg
        class="picture strip"
        viewBox="0 0 ${WIDTH} 22"
        preserveAspectRatio="none"
        role="img"
        aria-label="${said}"
      >
        ${rects}
      </svg>
    </figure>
    ${pageTable(
      "Bills by state",
      [
        {
          title: "State",
          isHead: true,
          cell: ({ word, tone }: Part) => html`<span class="badge ${tone}">${word}</span>`,
        },
        { title: "Bills", isNumber: true, cell: ({ bills }) => bills },
        { title: "Sum", isNumber: true, cell: ({ cents }) => usd(cents) },
      ],
      parts,
    )}`;
}

/** Good ends first, then what moves, what waits and what needs a person. */
const ORDER: readonly Tone[] = ["good", "move", "wait", "bad", "plain"];

function partsOf(sums: Sums): Part[] {
  const told = Object.entries(shownSums(sums));
  return Object.entries(LINE_WORDS)
    .flatMap(([state, { word, tone }]) => {
      const sum = told.find(([name]) => name === state)?.[1];
      return sum === undefined ? [] : [{ word, tone, bills: countOf(sum), cents: sum.cents }];
    })
    .toSorted((one, other) => ORDER.indexOf(one.tone) - ORDER.indexOf(other.tone));
}
