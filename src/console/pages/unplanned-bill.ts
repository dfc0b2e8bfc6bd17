import { html } from "hono/html";
import { SearchBody } from "../../api/names.ts";
import type { Api } from "../api.ts";
import { facts, note, section } from "../elements.ts";
import type { Page } from "../layout.ts";
import { badge, stateOf, usd } from "../words.ts";

/** A bill that only the service knows: the search leads to it. Undefined if there is no such bill. */
export async function unplannedBill(
  api: Api,
  id: string,
  business: string | null,
): Promise<Page | undefined> {
  const { exact } = await api.get(SearchBody, "/v1/search", { query: { q: id } });
  const found = exact.find(
    (named) =>
      named.kind === "bill" &&
      named.id === id &&
      (business === null || named.business === business),
  );
  if (found === undefined) return undefined;
  const { number, name, amountCents, state } = found;
  return {
    title: [number ?? id, name].filter((text) => text !== null).join(", "),
    ...(state === null ? {} : { lead: badge(stateOf(state)) }),
    main: html`${note("info", html`<p>No run has planned it.</p>`)}
    ${section(
      "The bill",
      html`${facts([
          ["Amount", amountCents === null ? "–" : usd(amountCents)],
          ["Vendor", name ?? "–", "long"],
          ["Business", found.business],
        ])}
        <p class="quiet">That is what the service says of it.</p>`,
    )}`,
  };
}
