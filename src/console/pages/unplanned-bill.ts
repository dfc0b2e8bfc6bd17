import { html } from "../html.ts";
import { type NamedView, SearchBody } from "../../api/names.ts";
import { billPage } from "../../contracts/console-pages.ts";
import type { Api } from "../api.ts";
import { facts, note, section } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import { badge, type Markup, stateOf, usd } from "../words.ts";

/** Finds a bill that only the service knows; undefined if there is no such bill. */
export async function findUnplanned(
  api: Api,
  id: string,
  business: string | null,
): Promise<NamedView | undefined> {
  const { exact } = await api.get(SearchBody, "/v1/search", { query: { q: id } });
  return exact.find(
    (named) =>
      named.kind === "bill" &&
      named.id === id &&
      (business === null || named.business === business),
  );
}

/** Builds the bill's page, to which the search leads. */
export function unplannedBill(found: NamedView, mayHold: boolean): PageContent {
  const { number, state, id, business } = found;
  const may = MAY[state ?? ""] ?? NOT_APPROVED;
  return {
    title: calledThere(found),
    ...(state === null ? {} : { lead: badge(stateOf(state)) }),
    main: html`${note("info", may === PAID ? "" : html`<p>${says(may, number ?? id)}</p>`, "No run has planned it.")}
    ${section(
      "The bill",
      html`${factsThere(found)}
      ${
        may === PAID || !mayHold
          ? ""
          : html`<div class="acts">
              <a
                class="button quiet"
                href="${billPage(id)}/hold?business=${encodeURIComponent(business)}"
                >Hold it</a
              >
            </div>`
      }`,
    )}`,
  };
}

/** Returns the bill's number and vendor. */
export function calledThere({ number, id, name }: NamedView): string {
  return [number ?? id, name].filter((text) => text !== null).join(", ");
}

export function factsThere({ amountCents, name, business }: NamedView): Markup {
  return html`${facts([
      ["Amount", amountCents === null ? "–" : usd(amountCents)],
      ["Vendor", name ?? "–", "long"],
      ["Business", business],
    ])}
    <p class="quiet">That is what the service says about it.</p>`;
}

const PAYABLE = "payable";
const PAID = "paid";
const NOT_APPROVED = "not approved";

/**
 * What can be done with a bill, by the service's word for its state. Any other state means that the
 * bill must first be approved at the service.
 */
const MAY: Readonly<Record<string, typeof PAYABLE | typeof PAID>> = {
  approved: PAYABLE,
  failed: PAYABLE,
  scheduled: PAID,
  processing: PAID,
  held: PAID,
  settled: PAID,
};

function says(may: typeof PAYABLE | typeof NOT_APPROVED, number: string): Markup | string {
  return may === PAYABLE
    ? html`The next run plans it if its playbook covers it. <code>payrun pay ${number}</code> plans
        it by itself; a hold keeps every run from paying it.`
    : "Runs pay only what is approved at the service: that is decided there. A hold keeps every run from paying it, even then.";
}
