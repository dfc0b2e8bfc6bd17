import { html } from "../html.ts";
import { HistoryBody, type PayableHistory } from "../../api/history.ts";
import type { NamedView } from "../../api/names.ts";
import { billPage, vendorPage } from "../../contracts/console-pages.ts";
import { retryFailedPaymentId } from "../../contracts/workflow-kinds.ts";
import type { Api } from "../api.ts";
import { facts, foldedUp, live, note, type NoteTone, section } from "../elements.ts";
import { HELD_BY } from "./ask.ts";
import type { PageContent } from "../layout.ts";
import type { PageOf } from "../page.ts";
import type { Visitor } from "../visitor.ts";
import { Refused } from "../refused.ts";
import { besideText } from "../../domain/payments/others-texts.ts";
import { isSaidBy } from "../../domain/payments/paid-once.ts";
import { isOnItsWay } from "../../domain/payments/payment-states.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { overLimitText } from "../../domain/planning/ways-out.ts";
import {
  amountInState,
  badge,
  dayText,
  type Markup,
  runLink,
  stateOf,
  when,
  who,
} from "../words.ts";
import { approvals, requests } from "./bill-record.ts";
import { releasersText } from "./holds.ts";
import { calledThere, factsThere, findUnplanned, unplannedBill } from "./unplanned-bill.ts";
import { hasRole } from "../../domain/approvals/token.ts";

/**
 * Reads the history of a bill, by the service's id for it, in the business that the address names.
 */
export function readHistory(
  api: Api,
  id: string,
  business: string | null,
): Promise<PayableHistory> {
  const query = business === null ? {} : { business };
  return api.get(HistoryBody, "/v1/payables/{id}/history", { params: { id }, query });
}

/** Returns the bill's number, which people know it by; its id if it has none. */
export function numberOfBill({
  bill,
  payableId,
}: Pick<PayableHistory, "bill" | "payableId">): string {
  return bill?.publicId ?? payableId;
}

/** Shows everything about one bill, the conclusion first. */
export const bill: PageOf = async ({ api, params, query, visitor }) => {
  const id = params["id"] ?? "";
  const business = query.get("business");
  try {
    const history = await readHistory(api, id, business);
    // The bill may have been put on hold before any run planned it.
    const found = history.bill === null ? await findUnplanned(api, id, business) : undefined;
    return billPageOf(history, query, {
      found,
      may: await mayOf(visitor, history),
    });
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    const found = await findUnplanned(api, id, business);
    if (found === undefined) throw error;
    return unplannedBill(found, await visitor.mayHold(found.business));
  }
};

function billPageOf(
  history: PayableHistory,
  query: URLSearchParams,
  { found, may }: { readonly found: NamedView | undefined; readonly may: May },
): PageContent {
  const planned = history.bill;
  const vendor = planned?.contactName == null ? "" : `, ${planned.contactName}`;
  return {
    title: found === undefined ? `${numberOfBill(history)}${vendor}` : calledThere(found),
    lead: live("bill-lead", html`${standing(history, found)} ${reasonBeside(history)}`),
    main: html` ${doneNote(query.get("done"), history)} ${live("verdict", verdictOf(history))}
    ${section(
      "The bill",
      html`${found === undefined ? "" : factsThere(found)}${planned === null ? notPlanned(history) : factsOf(history, planned)}${acts(history, may)}`,
    )}
    ${history.holds.some(({ releasedAt }) => releasedAt === null) ? section("Holds", holdList(history)) : ""}
    ${live("story", section("What happened", story(history)))}
    ${section("Approvals", approvals(history))}
    ${section("Requests and payments", requests(history))}`,
  };
}

/**
 * Returns the state as a badge. For a bill that no run has planned or left out, it is the service's
 * state.
 */
function standing(
  { givenBack, state, leftOut }: PayableHistory,
  found: NamedView | undefined,
): Markup | "" {
  if (givenBack) return badge({ word: "Waits for the next run", tone: "wait" });
  if (state !== null || leftOut !== null) return badge(stateOf(state ?? "skipped"));
  return found?.state == null ? "" : badge(stateOf(found.state));
}

/** Returns the reason for the state, unless the verdict below gives it. */
function reasonBeside({ reason, paidOnce }: PayableHistory): string {
  return reason === null || isSaidBy(paidOnce, reason) ? "" : reason;
}

/** Says what was done, as long as it is still true: the address alone proves nothing. */
function doneNote(act: string | null, history: PayableHistory): Markup | "" {
  const said = act === null ? undefined : DONE[act]?.(history);
  if (said === undefined) return "";
  const late = act === "hold" ? lateHold(history) : undefined;
  return late === undefined
    ? note("good", html`<p>${said}</p>`, "Done")
    : note(
        "warn",
        html`<p>${late}${late === RECALL ? ` ${recallText(history)}` : ""}</p>`,
        "The hold doesn’t stop what was sent",
      );
}

/** Says until when a payment can be cancelled, or why it can't be. */
export function recallText({ recall, zone }: Pick<PayableHistory, "recall" | "zone">): string {
  if (recall === null) return "The service shows no payment of it that can be called back.";
  if (recall.why !== null) return recall.why;
  return recall.by === null
    ? "It can be called back while the service has it for review."
    : `It can be called back until ${spokenTime(recall.by, zone)}.`;
}

const RECALL = "Its payment is not stopped by the hold.";

/**
 * Returns a warning for a hold on a bill that Payrun had sent before, or that an external payment
 * pays; undefined for any other bill.
 */
function lateHold({ state, externalPayments }: PayableHistory): string | undefined {
  const others = externalPayments.filter(({ status }) => isOnItsWay(status));
  const ofOthers = others.length === 0 ? undefined : `${besideText(others)} That goes on.`.trim();
  return LATE_HOLD[state ?? ""] ?? ofOthers;
}

const LATE_HOLD: Readonly<Record<string, string>> = {
  paying: "Its request is under way to the service.",
  unknown: "Its request is under way to the service.",
  scheduled: RECALL,
  held: RECALL,
  processing: "Its payment is with the bank already, and can’t be cancelled.",
  settled: "It is paid already.",
  "paid-elsewhere": "It counts as paid already.",
};

const DONE: Readonly<Record<string, (history: PayableHistory) => string | undefined>> = {
  hold: ({ holds }) =>
    holds.some(({ releasedAt }) => releasedAt === null)
      ? "It is on hold: nothing new is sent for it."
      : undefined,
  retry: ({ owner, business, payableId }) =>
    owner === retryFailedPaymentId(business, payableId)
      ? "It is tried again: its own workflow looks up what happened to its payments, and pays what is still owed."
      : undefined,
  "paid-elsewhere": ({ state }) =>
    state === "paid-elsewhere"
      ? "It counts as paid elsewhere. A hold without end keeps runs from paying it."
      : undefined,
  "give-up": ({ state }) =>
    state === "given-up"
      ? "It is given up. A hold without end keeps runs from paying it."
      : undefined,
};

const VERDICT_TONES: Readonly<Record<string, NoteTone>> = {
  "paid-once": "good",
  "paid-again": "good",
  "on-its-way": "info",
  "too-much": "stop",
  unknown: "warn",
  "partly-paid": "warn",
};

function verdictOf({ paidOnce: { verdict, sentences } }: PayableHistory): Markup {
  const [first = "", ...rest] = sentences;
  const more =
    rest.length === 0
      ? ""
      : foldedUp(
          "How this is known",
          html`<ul>
            ${rest.map((text) => html`<li>${text}</li>`)}
          </ul>`,
        );
  return note(VERDICT_TONES[verdict] ?? "info", more, first);
}

function notPlanned({ leftOut }: PayableHistory): Markup {
  if (leftOut === null) return html`<p>No run has planned it.</p>`;
  const { runId, text } = leftOut;
  return html`<p>${runLink(runId)} left it out: ${text}</p>`;
}

function factsOf(
  { business, payableId, owner, state }: PayableHistory,
  planned: NonNullable<PayableHistory["bill"]>,
): Markup {
  const { contactId, contactName, dueDate, executionDate } = planned;
  return facts([
    ["Amount", amountInState({ state: state ?? "planned", ...planned })],
    [
      "Vendor",
      html`<a href="${vendorPage(contactId, business)}">${contactName ?? contactId}</a>`,
      "long",
    ],
    ["Due", dayText(dueDate)],
    ["Pays on", dayText(executionDate)],
    [
      "Run",
      // A retry's page is this one.
      owner === null
        ? "none now"
        : owner === retryFailedPaymentId(business, payableId)
          ? "its retry"
          : runLink(owner),
      "long",
    ],
  ]);
}

const CANCELLED_BY = html`<p class="quiet">Its payment is cancelled by an operator or admin.</p>`;

/** Returns the page of one of the acts on a bill. */
export function billActPage(
  { payableId, business }: Pick<PayableHistory, "payableId" | "business">,
  act: string,
): string {
  return `${billPage(payableId)}/${act}?business=${encodeURIComponent(business)}`;
}

/** What the visitor may do about a bill: an act that would be refused is not offered. */
interface May {
  readonly hold: boolean;
  readonly cancel: boolean;
  readonly resolve: boolean;
  readonly retry: boolean;
}

async function mayOf(
  visitor: Visitor,
  history: Pick<PayableHistory, "business" | "roles" | "retryRoles">,
): Promise<May> {
  return {
    hold: await visitor.mayHold(history.business),
    cancel: visitor.mayOperate,
    resolve: hasRole(visitor, history.roles),
    retry: hasRole(visitor, history.retryRoles),
  };
}

function acts(history: PayableHistory, may: May): Markup {
  const { state, recall, givenBack, reasonCode, roles, retryRoles } = history;
  const to = (act: string) => billActPage(history, act);
  const isRecalled = recall !== null && recall.why === null;
  const isWaiting = state === "parked" && !givenBack;
  const limited = isWaiting ? overLimitText(reasonCode, numberOfBill(history)) : undefined;
  return html`${limited === undefined ? "" : html`<p>${limited}</p>`}
    <div class="acts">
      ${
        may.resolve
          ? html`${may.retry && isWaiting ? html`<a class="button" href="${to("retry")}">Try again</a>` : ""}
              <a class="button quiet" href="${to("paid-elsewhere")}">Paid elsewhere</a>
              <a class="button quiet" href="${to("give-up")}">Give up</a>`
          : ""
      }
      ${isRecalled && may.cancel ? html`<a class="button quiet" href="${to("cancel")}">Cancel its payment</a>` : ""}
      ${may.hold ? html`<a class="button quiet" href="${to("hold")}">Hold it</a>` : ""}
    </div>
    ${state === "parked" && !may.resolve ? html`<p class="quiet">A decision about it takes the role ${roles.join(" or ")}.</p>` : ""}
    ${may.resolve && !may.retry && retryRoles.length > 0 ? html`<p class="quiet">To have it tried again takes the role ${retryRoles.join(" or ")}.</p>` : ""}
    ${isRecalled && !may.cancel ? CANCELLED_BY : ""} ${may.hold ? "" : HELD_BY}`;
}

function holdList({ holds, zone }: PayableHistory): Markup {
  const open = holds.filter(({ releasedAt }) => releasedAt === null);
  return html`<ul class="list">
    ${open.map(
      ({ id, reason, author, authorKind, createdAt, until, yours, roles }) =>
        html`<li>
          <span class="what"
            >${reason}
            <span class="under"
              >${who(author, authorKind)}, since
              ${when(createdAt, zone)}${until === null ? "" : html`, until ${when(until, zone)}`}</span
            ></span
          >
          ${yours === true ? html`<a class="button quiet" href="/holds/release?id=${encodeURIComponent(id)}">Release</a>` : html`<span class="quiet">released by ${releasersText({ roles })}</span>`}
        </li>`,
    )}
  </ul>`;
}

function story({ timeline, zone }: PayableHistory): Markup {
  if (timeline.length === 0) return html`<p class="quiet">Nothing yet.</p>`;
  return html`<ol class="story">
    ${timeline
      .toReversed()
      .map(
        ({ at, text, by, byKind }) =>
          html`<li>
            ${when(at, zone)}${text}${by === undefined || text.includes(by) ? "" : html` <span class="quiet">(${who(by, byKind ?? "system")})</span>`}
          </li>`,
      )}
  </ol>`;
}
