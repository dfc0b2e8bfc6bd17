import { html } from "../html.ts";
import { type IncidentView, IncidentListBody } from "../../api/incidents.ts";
import { OverviewBody } from "../../api/overview.ts";
import { HistoryBody } from "../../api/history.ts";
import { type ParkedBillView, ParkedBody } from "../../api/parked.ts";
import { ResolutionBody } from "../../api/schemas.ts";
import { billPage, vendorPage } from "../../contracts/console-pages.ts";
import { counted, waits } from "../../domain/counted.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { hasRole } from "../../domain/approvals/token.ts";
import { centsInState } from "../../domain/payments/line-parts.ts";
import { RETURN_CODES } from "../../domain/payments/return-codes.ts";
import { overLimitText } from "../../domain/planning/ways-out.ts";
import { type Api, each, type ActOutcome } from "../api.ts";
import {
  choices,
  facts,
  field,
  form,
  hidden,
  live,
  movedOn,
  outcomes,
  pager,
  section,
  submit,
  pageTable,
  tick,
} from "../elements.ts";
import { pageNumberOf, type ActOf, type PageOf, type PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import type { Visitor } from "../visitor.ts";
import { amountInState, capital, dayText, type Markup, runLink, usd, when } from "../words.ts";
import { RESOLUTIONS } from "./bill-acts.ts";
import { notTriedNowText } from "../../domain/retries/approval.ts";
import { bouncedTitle, decidesAccount, incidentPage } from "./incident.ts";
import { waitingSections, waitingTexts } from "./waiting-now.ts";

const BILLS_A_PAGE = 100;

/** Lists what waits until a person decides: accounts that bounced first, then bills by cause. */
export const needsAction: PageOf = async ({ api, query, visitor }) => {
  const page = pageNumberOf(query);
  const asked = { state: "parked", page: String(page), pageSize: String(BILLS_A_PAGE) };
  const [incidents, parked, overview] = await Promise.all([
    api.get(IncidentListBody, "/v1/incidents"),
    api.get(ParkedBody, "/v1/payables", { query: asked }),
    api.get(OverviewBody, "/v1/overview"),
  ]);
  const others = waitingTexts(overview);
  const open = incidents.items.filter(({ phase }) => phase !== "ended");
  const causes = [...Map.groupBy(parked.items, ({ reasonCode }) => reasonCode ?? "")];
  const isNothing = [open, others, causes].every(({ length }) => length === 0);
  return {
    title: "Needs action",
    lead: isNothing
      ? "Nothing stands still for want of a decision."
      : [
          ...(parked.totalCount === 0
            ? []
            : [
                `${counted(parked.totalCount, "bill")} of ${formatUsd(parked.totalCents)} ${waits(parked.totalCount)} for a decision.`,
              ]),
          ...(open.length === 0 ? [] : [`${counted(open.length, "funding account")} bounced.`]),
          ...others,
        ].join(" "),
    main: html` ${live(
      "incidents",
      open.map((each) => incidentSection(each, visitor)),
    )}
    ${waitingSections(overview)}
    ${isNothing ? section("Nothing here", html`<p>Bills that failed, whose approval expired, or that need a vendor’s new details come here, with bills that are held back, deposits that wait for approval, cancellations that ended with exceptions, and what can be done about each.</p>`) : ""}
    ${causes.map(([code, bills]) => causeSection(code, bills, visitor))}
    ${pager({ page, pageSize: BILLS_A_PAGE, totalCount: parked.totalCount }, (to) => `/needs-action?page=${to}`)}`,
  };
};

function incidentSection(incident: IncidentView, visitor: Visitor): Markup {
  const { source, business, code, reason, roles, openedAt, bills, billsCents, phase } = incident;
  return section(
    bouncedTitle(incident),
    html`<p>
        The first: ${reason}.
        ${bills === 0 ? "Nothing is paid from it until a person decides" : bills === 1 ? "Its bill waits for a decision" : "One decision is enough for all of them"};
        it takes the role ${roles.join(" or ")}.
      </p>
      ${facts([
        ["Waiting", html`${usd(billsCents)}<span class="sub">${counted(bills, "bill")}</span>`],
        ["Since", when(openedAt, visitor.zoneOf(business)), "long"],
        ["First return code", code],
        ["Business", business],
      ])}
      ${phase !== "open" ? html`<p>Decided; its money is on the way.</p>` : decidesAccount(incident, visitor) ? html`<div class="acts"><a class="button" href="${incidentPage(incident)}">Decide</a></div>` : ""}`,
    `incident-${source.replaceAll(/[^\w-]/g, "-")}`,
  );
}

/** Returns a reason code's meaning, as a heading, and what to do. */
function causeOf(code: string, bills: readonly ParkedBillView[]): { title: string; toDo: string } {
  const known = RETURN_CODES[code];
  if (known !== undefined) return { title: `${code}, ${known.means}`, toDo: known.toDo };
  const [first] = bills;
  const title = code === "" ? "Without a reason" : capital(code.replaceAll("_", " "));
  // Each row has its own reason.
  return { title, toDo: overLimitText(code, "BILL") ?? first?.reason ?? "" };
}

function causeSection(code: string, bills: readonly ParkedBillView[], visitor: Visitor): Markup {
  const { title, toDo } = causeOf(code, bills);
  const isTheirs = bills.some((bill) => mayDecide(bill, visitor));
  return section(
    `${title} (${bills.length})`,
    html`<p>${toDo} ${formatUsd(sumCents(bills.map(openCents)))} in all. ${whoDecides(bills)}</p>
      ${
        isTheirs
          ? html`<form action="/needs-action/resolve">
              ${billTable(bills, visitor)}
              <div class="acts"><button>Decide about what is ticked</button></div>
            </form>`
          : billTable(bills)
      }`,
    `cause-${code.replaceAll(/[^\w-]/g, "-")}`,
  );
}

/** Adds the state that all bills of this list have. */
function asParked(bill: ParkedBillView) {
  return { ...bill, state: "parked" as const };
}

function openCents(bill: ParkedBillView): number {
  return centsInState(asParked(bill));
}

function mayDecide({ roles }: Pick<ParkedBillView, "roles">, visitor: Visitor): boolean {
  return hasRole(visitor, roles);
}

/** `A decision takes the role operator or admin.`; if bills differ, each set of roles once. */
function whoDecides(bills: readonly ParkedBillView[]): string {
  const ways = [...new Set(bills.map(({ roles }) => roles.join(" or ")))];
  return `A decision takes the role ${ways.join("; of others ")}.`;
}

/**
 * @param decider the visitor who may tick the bills that they may decide about; without one there
 * are no checkboxes
 */
function billTable(bills: readonly ParkedBillView[], decider?: Visitor): Markup {
  return pageTable(
    "The largest first",
    [
      {
        title: "Bill",
        isHead: true,
        cell: billLink,
      },
      {
        title: "Why",
        isText: true,
        cell: ({ reason, contactId, business }) =>
          html`${reason ?? "–"}<span class="under"
              ><a href="${vendorPage(contactId, business)}">Vendor</a></span
            >`,
      },
      { title: "Due", cell: ({ dueDate }) => dayText(dueDate) },
      {
        title: "Run",
        cell: ({ runId }) => runLink(runId),
      },
      { title: "Amount", isNumber: true, cell: (bill) => amountInState(asParked(bill)) },
      ...(decider === undefined
        ? []
        : [
            {
              title: "Decide",
              cell: (bill: ParkedBillView) =>
                mayDecide(bill, decider)
                  ? tick(
                      { name: "bill", value: keyOf(bill) },
                      `Decide about ${bill.publicId ?? bill.payableId}`,
                    )
                  : bill.roles.join(" or "),
            },
          ]),
    ],
    bills,
  );
}

/** What a bill is called by; the bill may not be parked any more. */
type Called = Pick<ParkedBillView, "business" | "payableId" | "publicId" | "contactName">;

function billLink({ business, payableId, publicId, contactName }: Called): Markup {
  return html`<a href="${billPage(payableId, business)}">${contactName ?? payableId}</a
    ><span class="under">${publicId ?? payableId}</span>`;
}

/** Returns a bill's key, with its business: two businesses may have a bill with the same id. */
function keyOf({ business, payableId }: Pick<ParkedBillView, "business" | "payableId">): string {
  return `${business}/${payableId}`;
}

function ofKey(key: string): Pick<ParkedBillView, "business" | "payableId"> {
  const [business = "", ...id] = key.split("/");
  return { business, payableId: id.join("/") };
}

/**
 * Reads the names of a bill that has moved on meanwhile. If they can't be read, the result of the
 * act is shown all the same, with the bill's id.
 */
async function nameOf(api: Api, key: string): Promise<Called> {
  const { business, payableId } = ofKey(key);
  const none = { business, payableId, publicId: null, contactName: null };
  const asked = { params: { id: payableId }, query: { business } };
  try {
    const { bill } = await api.get(HistoryBody, "/v1/payables/{id}/history", asked);
    const { publicId, contactName } = bill ?? none;
    return { ...none, publicId, contactName };
  } catch (error) {
    if (error instanceof Refused) return none;
    throw error;
  }
}

async function parkedNamed(api: Api, keys: readonly string[]): Promise<ParkedBillView[]> {
  const found: ParkedBillView[] = [];
  for (let page: number | null = 1; page !== null && found.length < keys.length;) {
    const { items, nextPage }: Awaited<ReturnType<typeof readPage>> = await readPage(api, page);
    found.push(...items.filter((bill) => keys.includes(keyOf(bill))));
    page = nextPage;
  }
  return found;
}

function readPage(api: Api, page: number) {
  return api.get(ParkedBody, "/v1/payables", { query: { state: "parked", page: String(page) } });
}

/** Returns the possible decisions about some bills; not the retry if it can't help any of them. */
function choicesFor(bills: readonly ParkedBillView[]) {
  const isLimited = bills.every((bill) => overLimitText(bill.reasonCode, "BILL") !== undefined);
  return Object.entries(RESOLUTIONS).flatMap(([action, { title, says }]) =>
    isLimited && action === "retry" ? [] : [[action, title, says] as const],
  );
}

/** Asks what is to be done with some bills: one choice, with a reason, before anything is done. */
export const checkResolution: PageOf = async (request) => resolutionPage(request, request.query);

async function resolutionPage(
  { api, visitor }: PageRequest,
  said: URLSearchParams,
  problems: Readonly<Record<string, string>> = {},
) {
  const keys = [...new Set(said.getAll("bill"))];
  if (keys.length === 0)
    throw new Refused(422, "nothing_ticked", "Tick the bills to decide about.");
  const bills = await parkedNamed(api, keys);
  if (bills.length === 0) {
    throw new Refused(409, "moved_on", "None of these bills waits for a decision any more.");
  }
  const cents = sumCents(bills.map(openCents));
  return {
    title: "What happens to these bills",
    lead: `${counted(bills.length, "bill")} of ${formatUsd(cents)}`,
    status: Object.keys(problems).length === 0 ? 200 : 422,
    main: html`${movedOn(keys.length, bills.length, "no decision is needed any more")}
    ${section("The bills", billTable(bills))}
    ${section(
      "Your decision",
      bills.some((bill) => mayDecide(bill, visitor))
        ? form(
            visitor,
            "/needs-action/resolve",
            html`${bills.map((bill) => hidden("bill", keyOf(bill)))}
              ${choices({ legend: "For each of them", name: "action", of: choicesFor(bills), chosen: said.get("action"), problem: problems["action"] })}
              ${field({ name: "reason", label: "Why", value: said.get("reason") ?? "", problem: problems["reason"], hint: "Kept in the trail, and shown to others." })}
              <div class="acts">${submit("Do this")}<a href="/needs-action">Back</a></div>`,
          )
        : html`<p>${whoDecides(bills)}</p>
            <div class="acts"><a href="/needs-action">Back</a></div>`,
    )}`,
  };
}

export const resolveBills: ActOf = async (request) => {
  const { api, form: sent } = request;
  const action = sent.get("action") ?? "";
  const reason = (sent.get("reason") ?? "").trim();
  const problems = {
    ...(action in RESOLUTIONS ? {} : { action: "Choose what happens to them." }),
    ...(reason === "" ? { reason: "Say why." } : {}),
  };
  if (Object.keys(problems).length > 0) return resolutionPage(request, sent, problems);
  const keys = [...new Set(sent.getAll("bill"))];
  const parked = await parkedNamed(api, keys);
  const called = new Map<string, Called>(parked.map((bill) => [keyOf(bill), bill]));
  const results = await each(keys, async (key) => {
    const { business, payableId } = ofKey(key);
    const asked = { params: { id: payableId }, query: { business }, body: { action, reason } };
    const done = await api.post(ResolutionBody, "/v1/payables/{id}/resolution", asked);
    called.set(key, done);
    return notTriedNowText(done);
  });
  for (const { id } of results) if (!called.has(id)) called.set(id, await nameOf(api, id));
  return {
    title: titleOf(results),
    main: html`${outcomes(
        results,
        (key) => {
          const bill = called.get(key);
          return bill === undefined ? key : billLink(bill);
        },
        DONE[action] ?? "done",
      )}
      <p><a href="/needs-action">What else needs action</a> · <a href="/">Today</a></p>`,
  };
};

/** Returns the title: “Done” only if all that was requested was done. */
function titleOf(results: readonly ActOutcome[]): string {
  const left = results.filter((result) => result.done && result.says !== undefined);
  if (results.some(({ done }) => !done)) return "Not all of it was done";
  if (left.length === 0) return "Done";
  return left.length === results.length ? "Not tried again now" : "Not all are tried again now";
}

const DONE: Readonly<Record<string, string>> = {
  retry: "being tried again",
  "paid-elsewhere": "counts as paid elsewhere",
  "give-up": "given up",
};
