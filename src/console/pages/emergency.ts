import { html } from "../html.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";
import { HoldListBody } from "../../api/holds.ts";
import { type UnderWay, UnderWayBody } from "../../api/under-way.ts";
import { billPage, runPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { each, type ActOutcome } from "../api.ts";
import {
  facts,
  foldedUp,
  field,
  form,
  hidden,
  live,
  movedOn,
  note,
  outcomes,
  pager,
  section,
  submit,
  pageTable,
  tick,
} from "../elements.ts";
import type { PageContent } from "../layout.ts";
import { pageNumberOf, type ActOf, type PageOf, type PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import { dayText, type Markup, runLink, usd, when } from "../words.ts";
import { stopEverything, stopPart } from "./stop.ts";

const BILLS_A_PAGE = 100;

/**
 * Shows the emergency stop, a single action: a hold for what is not sent yet, a cancel for what is
 * scheduled.
 */
export const emergency: PageOf = async ({ api, visitor, query }) => {
  const page = pageNumberOf(query);
  const [sent, held] = await Promise.all([
    api.get(UnderWayBody, "/v1/under-way", {
      query: { page: String(page), pageSize: String(BILLS_A_PAGE) },
    }),
    api.get(HoldListBody, "/v1/holds", { query: { scope: "all" } }),
  ]);
  const stopped = new Set(held.items.map(({ business }) => business));
  const rest = visitor.businesses.filter((business) => !stopped.has(business));
  const { mayStop, mayCancel } = sent.yours;
  const theirs = rest.filter((business) => mayStop.includes(business));
  return {
    title: "Emergency",
    lead: "Stop what is not sent, call back what can still be called back.",
    main: html` ${section("1. Stop everything", rest.length === 0 ? html`<p>Everything is on hold: nothing new is sent.</p>` : theirs.length === 0 ? html`<p>That takes the role operator or admin, or one that approves payments.</p>` : html`${stopEverything(visitor, theirs)}${foldedUp("Or only a run, a vendor or an account", stopPart())}`)}
    ${sent.storeBehind ? NOT_COUNTED : ""}
    ${live("sent", section("2. What the service has already", figures(sent, visitor), "sent-already"))}
    ${
      sent.items.length === 0
        ? ""
        : section(
            "3. Call it back",
            html`${
              mayCancel
                ? recallForm(sent, visitor)
                : html`<p>
                      ${theirs.length === 0 ? "" : "“Call back as well” above calls back all of it. "}Single
                      payments are cancelled by an operator or admin.
                    </p>
                    ${sentTable(sent.items, visitor)}`
            }
            ${pager({ page, pageSize: BILLS_A_PAGE, totalCount: sent.recallable.count }, (to) => `/emergency?page=${to}`)}`,
            "call-back",
          )
    }
    ${section("Afterwards", html`<p>Holds end by hand: <a href="/holds">release them</a>, <a href="/holds/release-all?by=${encodeURIComponent(visitor.name)}">all of your own</a> at once if need be. What was waiting goes on within seconds.</p>`)}`,
  };
};

function recallForm({ items }: UnderWay, visitor: PageRequest["visitor"]): Markup {
  return html`<form action="/emergency/cancel">
    ${sentTable(items, visitor, true)}
    <div class="acts"><button class="stop">Cancel what is ticked</button></div>
  </form>`;
}

/**
 * A warning for a store that was restored: its figures would claim that nothing is at the service.
 */
const NOT_COUNTED = note(
  "warn",
  html`<p>
    The store is older than what was done with it: payments that it has lost are neither counted nor
    listed here. <code>payrun payments --since DAY</code> lists what the service has, and
    <code>payrun cancel-scheduled PAYMENT_ID</code> takes one back.
  </p>`,
);

function figures(
  { recallable, until, beyond }: UnderWay,
  { businesses, zoneOf }: PageRequest["visitor"],
): Markup {
  return facts([
    [
      "Can be called back",
      html`${usd(recallable.cents)}<span class="sub">${counted(recallable.count, "bill")}</span>`,
    ],
    [
      "Until",
      until === null
        ? "–"
        : html`${when(until, zoneOf(businesses[0] ?? ""))}<span class="sub"
              >the first cut-off</span
            >`,
      "long",
    ],
    [
      "Can’t be called back",
      html`${usd(beyond.cents)}<span class="sub"
          >${counted(beyond.count, "bill")}, being sent, with the bank, or in several payments</span
        >`,
    ],
  ]);
}

type Sent = UnderWay["items"][number];

function sentTable(
  items: readonly Sent[],
  { zoneOf }: PageRequest["visitor"],
  isTicked = false,
): Markup {
  return pageTable(
    "The nearest cut-off first",
    [
      {
        title: "Bill",
        isHead: true,
        cell: (sent: Sent) => nameOf(sent),
      },
      {
        title: "Run",
        cell: ({ runId }) => runLink(runId),
      },
      { title: "Paid on", cell: ({ executionDate }) => dayText(executionDate) },
      {
        title: "Cut-off",
        cell: ({ recallBy, business }) =>
          recallBy === null ? "none: it is held" : when(recallBy, zoneOf(business)),
      },
      { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
      ...(isTicked
        ? [
            {
              title: "Cancel",
              cell: (sent: Sent) =>
                tick(
                  { name: "bill", value: keyOf(sent), isTicked: true },
                  `Cancel ${sent.publicId ?? sent.payableId}`,
                ),
            },
          ]
        : []),
    ],
    items,
  );
}

function nameOf({ payableId, publicId, contactName, business }: Sent): Markup {
  return html`<a href="${billPage(payableId, business)}">${contactName ?? payableId}</a
    ><span class="under">${publicId ?? payableId}</span>`;
}

function keyOf({ business, payableId }: Pick<Sent, "business" | "payableId">): string {
  return `${business}/${payableId}`;
}

async function namedIn({ api }: PageRequest, keys: readonly string[]): Promise<Sent[]> {
  const found: Sent[] = [];
  for (let page: number | null = 1; page !== null && found.length < keys.length;) {
    const read: UnderWay = await api.get(UnderWayBody, "/v1/under-way", {
      query: { page: String(page) },
    });
    found.push(...read.items.filter((sent) => keys.includes(keyOf(sent))));
    page = read.nextPage;
  }
  return found;
}

export const checkRecall: PageOf = async (request) => recallPage(request, request.query);

async function recallPage(
  request: PageRequest,
  said: URLSearchParams,
  problem?: string,
): Promise<PageContent> {
  const keys = [...new Set(said.getAll("bill"))];
  if (keys.length === 0) throw new Refused(422, "nothing_ticked", "Tick what is to be cancelled.");
  const found = await namedIn(request, keys);
  if (found.length === 0) {
    throw new Refused(409, "moved_on", "None of these can be called back any more.");
  }
  const cents = found.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return {
    title: "Cancel these payments",
    lead: `${counted(found.length, "bill")} of ${formatUsd(cents)}`,
    status: problem === undefined ? 200 : 422,
    main: html`${movedOn(keys.length, found.length, TOO_LATE)}
    ${section(
      "They are called back",
      html`<p>
          Each bill goes on hold first, so that no run pays it again. If a cancel comes too late for
          the service, its result says so.
        </p>
        ${sentTable(found, request.visitor)}
        ${form(
          request.visitor,
          "/emergency/cancel",
          html`${found.map((sent) => hidden("bill", keyOf(sent)))}
            ${field({ name: "reason", label: "Why", problem, hint: "Kept in the trail, and shown to others." })}
            <div class="acts">${submit("Cancel them", "stop")}<a href="/emergency">Back</a></div>`,
        )}`,
    )}`,
  };
}

const TOO_LATE = "it can’t be called back any more";

/**
 * Requests one cancellation for each business, followed on its own page, and names the bills for
 * which it is too late.
 */
export const recall: ActOf = async (request) => {
  const { api, form: sent } = request;
  const reason = (sent.get("reason") ?? "").trim();
  if (reason === "") return recallPage(request, sent, "Say why.");
  const keys = [...new Set(sent.getAll("bill"))];
  const found = await namedIn(request, keys);
  const byBusiness = Map.groupBy(found, ({ business }) => business);
  const made = new Map<string, string>();
  const results = await each([...byBusiness.keys()], async (business) => {
    const payments = (byBusiness.get(business) ?? []).flatMap(({ paymentIds }) => paymentIds);
    const body = { payments, reason, business };
    made.set(business, (await api.post(CancellationStatusBody, "/v1/cancellations", { body })).id);
  });
  const [only] = made.values();
  if (results.length === 1 && found.length === keys.length && only !== undefined) {
    return { goTo: runPage(only) };
  }
  const of = new Map(found.map((bill) => [keyOf(bill), bill]));
  const one = (key: string): ActOutcome => {
    const result = results.find(({ id }) => id === of.get(key)?.business);
    return result === undefined
      ? { id: key, done: false, why: `Nothing was done: ${TOO_LATE}.` }
      : { ...result, id: key };
  };
  return {
    title: made.size === 0 ? "Nothing is called back" : "Being called back",
    main: html`${outcomes(
        keys.map(one),
        (key) => {
          const bill = of.get(key);
          return bill === undefined ? key.split("/").slice(1).join("/") : nameOf(bill);
        },
        "being called back",
      )}
      <ul>
        ${[...made].map(([business, id]) => html`<li><a href="${runPage(id)}">Follow the cancellation of ${business}</a></li>`)}
      </ul>`,
  };
};
