import { html } from "../html.ts";
import { type NamedView, SearchBody } from "../../api/names.ts";
import { billPage, runPage, vendorPage } from "../../contracts/console-pages.ts";
import { note, section, pageTable } from "../elements.ts";
import { formatUsd } from "../../domain/money.ts";
import { folded } from "../../domain/names.ts";
import type { PageOf } from "../page.ts";
import { badge, capital, type Markup, stateOf, usd } from "../words.ts";

/**
 * Finds what a person may mean by a number, a name or an amount; goes straight to its page if that
 * is clear.
 */
export const showFound: PageOf = async ({ api, query, visitor }) => {
  const text = (query.get("q") ?? "").trim();
  if (text === "") return { goTo: "/" };
  const {
    exact,
    near: all,
    unread,
  } = await api.get(SearchBody, "/v1/search", {
    query: { q: text },
  });
  const alike = all.filter((named) => hasIn(named, text));
  // Of accounts and holds, which are few, the search returns all if nothing matches.
  const meant = all.filter(({ kind }) => kind !== "account" && kind !== "hold");
  const near = alike.length > 0 || exact.length > 0 ? alike : meant;
  const [only] = exact;
  const address = only === undefined ? undefined : pageOf(only);
  if (exact.length === 1 && near.length === 0 && address !== undefined) return { goTo: address };
  const isShown = visitor.businesses.length > 1;
  const none = html`<p>
    Nothing matches. Try a vendor’s name, a bill’s number, an amount such as 1,234.50, or a run such
    as weekly/2026-11-26.
  </p>`;
  return {
    title: `Search: ${text}`,
    main: html` ${unread.map(({ business }) => note("warn", html`<p>The service of ${business} can’t be asked now, so there may be more.</p>`))}
    ${exact.length === 0 ? "" : section("Exact matches", foundTable(exact, isShown), "exact")}
    ${near.length === 0 ? "" : section(nearTitle(text, near, { exact: exact.length, alike: alike.length }), foundTable(near, isShown), "near")}
    ${exact.length + near.length === 0 ? section("Nothing found", none, "none") : ""}`,
  };
};

/** Returns true if the typed text is part of a name or number. */
function hasIn({ name, number, id }: NamedView, text: string): boolean {
  const part = folded(text);
  return [name, number, id].some((each) => folded(each ?? "").includes(part));
}

function nearTitle(
  text: string,
  near: readonly NamedView[],
  { exact, alike }: { readonly exact: number; readonly alike: number },
): string {
  if (exact > 0) return "Similar names";
  if (alike > 0) return "With this in the name";
  const typed = plainAmount(text);
  const isOfAmount = near.every(
    ({ amountCents }) => amountCents !== null && plainAmount(formatUsd(amountCents)) === typed,
  );
  if (isOfAmount) return "Of this amount";
  return `Nothing matches. Did you mean ${near.length === 1 ? "this" : "one of these"}?`;
}

/** Normalizes `$2,450.00` and `2450` to the same text. */
function plainAmount(text: string): string {
  return text.replaceAll(/[$,\s]/g, "").replace(/\.00$/, "");
}

function foundTable(found: readonly NamedView[], isShown: boolean): Markup {
  return pageTable(
    "What it may be",
    [
      { title: "What", isHead: true, cell: (named: NamedView) => linked(named) },
      { title: "Kind", cell: ({ kind }) => capital(kind) },
      { title: "State", cell: stateCell },
      ...(isShown ? [{ title: "Business", cell: ({ business }: NamedView) => business }] : []),
      {
        title: "Amount",
        isNumber: true,
        cell: ({ amountCents }) => (amountCents === null ? "–" : usd(amountCents)),
      },
    ],
    found,
  );
}

/**
 * Returns the state for a table. A hold's state is its reason, in its author's words; an account's
 * says whether it can pay.
 */
function stateCell({ kind, state }: NamedView): Markup | string {
  if (state === null) return "–";
  if (kind === "account") return capital(state);
  if (kind !== "hold") return badge(stateOf(state));
  return html`${badge(stateOf("on-hold"))}<span class="under">${state}</span>`;
}

function linked(named: NamedView): Markup {
  const { kind, name, number, id } = named;
  // Two vendors may have the same name.
  const called = [name, number, kind === "vendor" ? id : null].filter((text) => text !== null);
  const [first, ...rest] = called.length === 0 ? [id] : called;
  const address = pageOf(named);
  const head = address === undefined ? html`${first}` : html`<a href="${address}">${first}</a>`;
  return html`${head}<span class="under"
      >${[...new Set(rest)].filter((text) => text !== first).join(" · ")}</span
    >`;
}

/** Returns the address of the page for what was found; undefined if it has none. */
function pageOf({ kind, id, business, payableId }: NamedView): string | undefined {
  switch (kind) {
    case "bill":
      return billPage(id, business);
    case "vendor":
      return vendorPage(id, business);
    case "run":
      return runPage(id);
    case "payment":
      return payableId == null ? undefined : billPage(payableId, business);
    case "hold":
    case "account":
      return "/holds";
    case "playbook":
      return undefined;
  }
}
