import { html } from "../html.ts";
import { type HoldView, HoldListBody } from "../../api/holds.ts";
import { billPage, vendorPage } from "../../contracts/console-pages.ts";
import { field, live, pager, section, pageTable, tick } from "../elements.ts";
import { pageNumberOf, type PageOf } from "../page.ts";
import type { Visitor } from "../visitor.ts";
import { accountName } from "../../domain/names.ts";
import { type Markup, runLink, usd, when, who, wholeNumber } from "../words.ts";
import { OPERATE } from "../../domain/approvals/token.ts";
import { kindOf } from "../../domain/holds.ts";
import { HELD_BY } from "./ask.ts";
import { OFFERED, titleOf } from "./offered-holds.ts";

const HOLDS_A_PAGE = 50;

/** Lists all that must not be paid now, and who said so. */
export const holds: PageOf = async ({ api, query, visitor }) => {
  const page = pageNumberOf(query);
  const asked = { page: String(page), pageSize: String(HOLDS_A_PAGE) };
  const { items, totalCount } = await api.get(HoldListBody, "/v1/holds", { query: asked });
  const ticks = items.some(({ yours }) => yours === true);
  const mayHold = await Promise.all(visitor.businesses.map(visitor.mayHold));
  const list =
    items.length === 0
      ? html`<p class="quiet">Nothing is on hold.</p>`
      : html`${
          ticks
            ? html`<form action="/holds/release">
                ${holdTable(items, visitor, true)}
                <div class="acts"><button>Release what is ticked</button></div>
              </form>`
            : holdTable(items, visitor, true)
        }
        ${pager({ page, pageSize: HOLDS_A_PAGE, totalCount }, (to) => `/holds?page=${to}`)}`;
  return {
    title: "Holds",
    lead: "A hold keeps what it names from being paid, until it ends or a person releases it.",
    main: html`${section(`In force (${wholeNumber(totalCount)})`, list, "in-force")}
    ${ticks || (visitor.mayOperate && items.length > 0) ? section("Release all of one person", allOf(visitor)) : ""}
    ${mayHold.includes(true) ? section("Set one", SET_ONE) : HELD_BY}`,
  };
};

const SET_ONE = html`<p>
    Bills, vendors and runs are put on hold from their own pages: search for them. The rest is put
    on hold from here:
  </p>
  <div class="acts">
    ${OFFERED.map((offered) => html`<a class="button quiet" href="/holds/new?on=${offered.scope}">${titleOf(offered)}</a>`)}<a
      class="button stop"
      href="/emergency"
      >Everything</a
    >
  </div>`;

/**
 * Offers the release of all holds of one person, including those set by cancels: the way back after
 * a stop.
 */
function allOf({ name }: Visitor): Markup {
  return html`<form action="/holds/release-all">
    ${field({ name: "by", label: "Whose", value: name, hint: "Also the holds of their cancels. You see first what goes out." })}
    <div class="acts"><button class="quiet">See what that is</button></div>
  </form>`;
}

/**
 * @param isTicked true if holds that the visitor may release get a checkbox, and the rest say who
 * may
 */
export function holdTable(
  items: readonly HoldView[],
  { zoneOf }: Pick<Visitor, "zoneOf">,
  isTicked = false,
): Markup {
  return pageTable(
    "Newest first",
    [
      { title: "On", isHead: true, cell: (hold: HoldView) => targetOf(hold) },
      {
        title: "Why",
        isText: true,
        cell: ({ reason, roles }) =>
          html`${reason}${roles.length === 0 ? "" : html`<span class="under">released by ${roles.join(" or ")} only</span>`}`,
      },
      {
        title: "Set by",
        cell: ({ author, authorKind, createdAt, business }) =>
          html`${who(author, authorKind)}<span class="under"
              >${when(createdAt, zoneOf(business))}</span
            >`,
      },
      {
        title: "Until",
        cell: ({ until, business }) =>
          until === null ? "a person releases it" : when(until, zoneOf(business)),
      },
      ...(isTicked
        ? [
            {
              title: "Release",
              cell: (hold: HoldView) =>
                hold.yours === true
                  ? tick({ name: "id", value: hold.id }, `Release the hold on ${calledSo(hold)}`)
                  : releasersText(hold),
            },
          ]
        : []),
    ],
    items,
  );
}

/** Names the roles that may release a hold, for visitors who may not. */
export function releasersText({ roles }: Pick<HoldView, "roles">): string {
  return (roles.length === 0 ? OPERATE : roles).join(" or ");
}

function calledSo({ scope, value, number, name }: HoldView): string {
  if (scope === "all") return "everything";
  return scope === "payable" ? (number ?? value) : (name ?? value);
}

/** Returns what a hold is on, as people call it, with a link to it. */
export function targetOf(hold: HoldView): Markup {
  const { scope, value, number, name, amountCents, business } = hold;
  switch (scope) {
    case "payable":
      return html`<a href="${billPage(value, business)}">${name ?? number ?? value}</a
        ><span class="under"
          >Bill ${number ?? value}${amountCents === null ? "" : html`, ${usd(amountCents)}`}</span
        >`;
    case "contact":
      return html`<a href="${vendorPage(value, business)}">${name ?? value}</a
        ><span class="under">Every bill of the vendor</span>`;
    case "run":
      return html`${runLink(value)}<span class="under">The run</span>`;
    case "source":
      return html`${accountName(hold.value, hold)}<span class="under"
          >What is paid from the account</span
        >`;
    case "all":
      return html`Everything<span class="under">Every bill of ${business}</span>`;
    default:
      return html`${name ?? value}<span class="under">Every bill of the ${kindOf(scope)}</span>`;
  }
}

/** Lists the holds on what a page is about. */
export function holdsSection(items: readonly HoldView[], visitor: Visitor): Markup {
  return live(
    "holds",
    items.length === 0 ? html`<p class="quiet">No hold.</p>` : holdTable(items, visitor),
  );
}
