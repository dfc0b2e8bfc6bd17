import { html } from "./html.ts";
import type { ActOutcome } from "./api.ts";
import type { Visitor } from "./visitor.ts";
import { type Markup, wholeNumber } from "./words.ts";

type Content = Markup | string;

export interface PageColumn<Row> {
  readonly title: string;
  /** Numbers are right-aligned, so that their digits line up. */
  readonly isNumber?: boolean;
  /** Sentences: on a phone the text is placed under its title. */
  readonly isText?: boolean;
  /** The cell that names the row. */
  readonly isHead?: boolean;
  readonly cell: (row: Row) => unknown;
}

/** Builds a table; on a phone each row becomes a card whose cells have their titles. */
export function pageTable<Row>(
  caption: string,
  columns: readonly PageColumn<Row>[],
  rows: readonly Row[],
): Markup {
  const names = columns.map(
    ({ title, isNumber }) =>
      html`<th scope="col" role="columnheader" class="${isNumber === true ? "n" : ""}">
        ${title}
      </th>`,
  );
  // On a phone the last number is next to the row's name: it is the row's result.
  const sum = columns.findLast(({ isNumber }) => isNumber);
  const cells = (row: Row) =>
    columns.map((column) => {
      const { title, isNumber, isText, isHead, cell } = column;
      const number = column === sum ? "n sum" : "n";
      const kind = isNumber === true ? number : isText === true ? "text" : "";
      return isHead === true
        ? html`<th scope="row" role="rowheader" class="${kind}">${cell(row)}</th>`
        : html`<td role="cell" data-title="${title}" class="${kind}"><div>${cell(row)}</div></td>`;
    });
  return html`<table role="table">
    <caption class="quiet">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${names}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) =>
          html`<tr role="row">
            ${cells(row)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/**
 * Builds a list of a few facts, the most important first; on a phone long ones get a line of their
 * own.
 */
export function facts(of: readonly (readonly [string, unknown, "long"?])[]): Markup {
  return html`<dl class="facts">
    ${of.map(
      ([name, value, size = ""]) =>
        html`<div class="${size}">
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

export type NoteTone = "info" | "good" | "warn" | "stop";

/** Builds a note, for what a person must know before anything else. */
export function note(tone: NoteTone, content: unknown, title?: string): Markup {
  const head = title === undefined ? "" : html`<p class="note-title">${title}</p>`;
  return html`<div class="note ${tone}">${head}${content}</div>`;
}

export function section(title: string, content: unknown, id?: string): Markup {
  const name = id ?? title.toLowerCase().replaceAll(/[^a-z]+/g, "-");
  return html`<section aria-labelledby="${name}">
    <h2 id="${name}">${title}</h2>
    ${content}
  </section>`;
}

/** Builds content that stays folded until a person opens it. */
export function foldedUp(summary: unknown, content: unknown): Markup {
  return html`<details>
    <summary>${summary}</summary>
    ${content}
  </details>`;
}

/** Builds a region that the page's script reloads; it must contain no input fields. */
export function live(id: string, content: unknown): Markup {
  return html`<div id="${id}" data-live>${content}</div>`;
}

export function hidden(name: string, value: string): Markup {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** Builds a form that performs an action. */
export function form(
  visitor: Pick<Visitor, "formToken">,
  action: string,
  content: unknown,
): Markup {
  const { field: name, value } = visitor.formToken;
  return html`<form method="post" action="${action}">${hidden(name, value)}${content}</form>`;
}

export interface FieldSpec {
  readonly name: string;
  readonly label: unknown;
  readonly hint?: string;
  readonly value?: string;
  readonly isRequired?: boolean;
  /** What is wrong with the submitted value. */
  readonly problem?: string | undefined;
  readonly autocomplete?: string;
  readonly inputmode?: string;
}

export function field(spec: FieldSpec): Markup {
  const { name, label, hint, value = "", isRequired = true, problem, autocomplete = "off" } = spec;
  const id = `f-${name}`;
  const about = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === undefined ? [] : [`${id}-problem`]),
  ].join(" ");
  return html`<div class="field">
    <label for="${id}"
      >${label}${isRequired ? "" : html` <span class="quiet">(optional)</span>`}</label
    >
    ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${problem === undefined ? "" : html`<p class="problem" id="${id}-problem">${problem}</p>`}
    <input
      id="${id}"
      name="${name}"
      value="${value}"
      maxlength="500"
      autocomplete="${autocomplete}"
      ${isRequired ? "required" : ""}
      inputmode="${spec.inputmode ?? "text"}"
      aria-describedby="${about}"
      aria-invalid="${String(problem !== undefined)}"
    />
  </div>`;
}

/** Builds a choice of one of a few; none is preselected for the person. */
export function choices(of: {
  readonly legend: string;
  readonly name: string;
  /** The options, each with its title and its consequence. */
  readonly of: readonly (readonly [value: string, title: string, says: string])[];
  readonly chosen?: string | null;
  readonly problem?: string | undefined;
}): Markup {
  const { legend, name, chosen, problem } = of;
  return html`<fieldset>
    <legend>${legend}</legend>
    ${problem === undefined ? "" : html`<p class="problem">${problem}</p>`}
    ${of.of.map(
      ([value, title, says]) =>
        html`<label class="choice"
          ><input
            type="radio"
            name="${name}"
            value="${value}"
            required
            ${chosen === value ? "checked" : ""}
          /><span><strong>${title}</strong>${says}</span></label
        >`,
    )}
  </fieldset>`;
}

export function submit(text: Content, kind: "go" | "stop" | "quiet" = "go"): Markup {
  return html`<button class="${kind}">${text}</button>`;
}

/** Builds a checkbox in a table's row; screen readers get its purpose as text. */
export function tick(
  box: { readonly name: string; readonly value: string; readonly isTicked?: boolean },
  says: string,
): Markup {
  return html`<label class="choice"
    ><input
      type="checkbox"
      name="${box.name}"
      value="${box.value}"
      ${box.isTicked === true ? "checked" : ""}
    /><span class="hidden">${says}</span></label
  >`;
}

/** Shows the position in a long list, with links to the previous and next page. */
export function pager(
  at: { readonly page: number; readonly pageSize: number; readonly totalCount: number },
  addressOf: (page: number) => string,
): Markup | "" {
  const { page, pageSize, totalCount } = at;
  const pages = Math.ceil(totalCount / pageSize);
  if (pages <= 1) return "";
  const link = (to: number, text: string) =>
    to < 1 || to > pages
      ? html`<span class="quiet" aria-hidden="true">${text}</span>`
      : html`<a href="${addressOf(to)}">${text}</a>`;
  return html`<nav class="pager" aria-label="Pages">
    ${link(page - 1, "← Before")}
    <span>Page ${wholeNumber(page)} of ${wholeNumber(pages)}</span>
    ${link(page + 1, "Next →")}
  </nav>`;
}

/**
 * Returns a note if some of the ticked things are no longer there; the rest can still be done.
 * Empty if all are.
 */
export function movedOn(ticked: number, left: number, what: string): Markup | "" {
  if (left === ticked) return "";
  const gone = ticked - left;
  return note(
    "warn",
    html`<p>
      ${wholeNumber(gone)} of ${wholeNumber(ticked)} that you ticked ${gone === 1 ? "is" : "are"}
      not here: ${what}.
    </p>`,
  );
}

/**
 * Describes the acts that had another result than the plain one. If the results differ too much,
 * the text refers to the list below.
 */
function otherOutcomes(others: readonly ActOutcome[], of: number): string {
  const words = new Map<string, number>();
  for (const other of others) {
    const says = (other.done ? other.says : undefined) ?? "";
    words.set(says, (words.get(says) ?? 0) + 1);
  }
  if (words.size > WORDS_MOST) return `The results of ${wholeNumber(others.length)} are below.`;
  return [...words]
    .map(([says, count]) =>
      of === 1 ? says : `${wholeNumber(count)} of ${wholeNumber(of)}: ${says}`,
    )
    .join(" ");
}

const WORDS_MOST = 2;

/** Lists the results of several acts, the refused ones first. */
export function outcomes(
  of: readonly ActOutcome[],
  nameOf: (id: string) => unknown,
  done: string,
): Markup {
  const refused = of.filter((outcome) => !outcome.done);
  const others = of.filter((outcome) => outcome.done && outcome.says !== undefined);
  const plain = of.filter((outcome) => outcome.done && outcome.says === undefined);
  const sorted = [...refused, ...others, ...plain];
  const count = html`${wholeNumber(plain.length)} of ${wholeNumber(of.length)}: ${done}.`;
  const head =
    plain.length === of.length
      ? note("good", html`<p>${count}</p>`)
      : note(
          "warn",
          html`<p>
            ${plain.length === 0 ? "" : count}
            ${refused.length === 0 ? "" : html`${wholeNumber(refused.length)} ${refused.length === 1 ? "was" : "were"} refused, and nothing of ${refused.length === 1 ? "it" : "them"} was changed.`}
            ${otherOutcomes(others, of.length)}
          </p>`,
        );
  const results = pageTable(
    "Refused ones first",
    [
      { title: "What", isHead: true, cell: ({ id }: ActOutcome) => nameOf(id) },
      { title: "Result", cell: (outcome) => (outcome.done ? (outcome.says ?? done) : outcome.why) },
    ],
    sorted,
  );
  return html`${head}${section("What happened to each", results)}`;
}
