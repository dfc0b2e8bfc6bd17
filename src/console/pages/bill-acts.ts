import { html } from "../html.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";
import type { PayableHistory } from "../../api/history.ts";
import { HoldBody } from "../../api/holds.ts";
import { ResolutionBody } from "../../api/schemas.ts";
import { billPage, runPage } from "../../contracts/console-pages.ts";
import { isDate } from "../../domain/clock/dates.ts";
import { formatUsd } from "../../domain/money.ts";
import { shownAmount } from "../../domain/payments/line-parts.ts";
import { notTriedNowText } from "../../domain/retries/approval.ts";
import { note } from "../elements.ts";
import type { PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import { asking } from "./ask.ts";
import { billActPage, readHistory, numberOfBill, recallText } from "./bill.ts";
import { calledThere, findUnplanned } from "./unplanned-bill.ts";
import { isRecallable } from "../../domain/payments/payment-states.ts";

const subject = ({ api, params, query }: PageRequest) =>
  readHistory(api, params["id"] ?? "", query.get("business"));

const lead = (history: PayableHistory) =>
  `${numberOfBill(history)}${history.bill === null ? "" : `, ${history.bill.contactName ?? history.bill.contactId}, ${shownAmount({ state: history.state ?? "planned", ...history.bill })}`}`;

type OfBill = Pick<PayableHistory, "payableId" | "business">;

const back = ({ payableId, business }: OfBill) => billPage(payableId, business);

const doneAt = (history: OfBill, act: string) => ({ goTo: `${back(history)}&done=${act}` });

/** The end of a hold, for a person who wants it to end by itself. */
export const UNTIL = {
  name: "until",
  label: "Until",
  hint: "A date, such as 2026-12-01: the hold ends when that day begins in New York. Without one it lasts until a person releases it.",
  isRequired: false,
} as const;

/** Returns what is wrong with a hold's end, if anything. */
export function untilProblem(form: URLSearchParams): Readonly<Record<string, string>> {
  const until = (form.get("until") ?? "").trim();
  const isTime = isDate(until) || /^P\w|^\d{4}-\d\d-\d\dT/.test(until);
  return until === "" || isTime ? {} : { until: "Write the date like this: 2026-12-01." };
}

/** Returns what a form says about a hold, besides what it is on. */
export function holdSaid(form: URLSearchParams, reason: string) {
  const until = (form.get("until") ?? "").trim();
  return { reason, ...(until === "" ? {} : { until }) };
}

/** What putting a bill on hold needs to know of it. */
type ToHold = OfBill & { readonly called: string };

/** Reads the bill; also one that no run has planned yet. */
async function toHold(request: PageRequest): Promise<ToHold> {
  try {
    const history = await subject(request);
    return { ...history, called: lead(history) };
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    const { api, params, query } = request;
    const found = await findUnplanned(api, params["id"] ?? "", query.get("business"));
    if (found === undefined) throw error;
    const { id, business, amountCents } = found;
    const sum = amountCents === null ? "" : `, ${formatUsd(amountCents)}`;
    return { payableId: id, business, called: `${calledThere(found)}${sum}` };
  }
}

export const holdBill = asking<ToHold>({
  subject: toHold,
  back,
  button: "Hold it",
  fields: () => [UNTIL],
  check: untilProblem,
  lead: ({ called }) => called,
  title: () => "Hold a bill",
  at: (history) => billActPage(history, "hold"),
  says: () =>
    html`<p>
      Nothing new is sent for this bill while the hold lasts. What was sent already is not stopped
      by it: cancel its payment for that.
    </p>`,
  act: async ({ api, form }, history, reason) => {
    const { payableId, business } = history;
    const body = { payableId, business, ...holdSaid(form, reason) };
    await api.post(HoldBody, "/v1/holds", { body });
    return doneAt(history, "hold");
  },
});

export const cancelBill = asking<PayableHistory>({
  subject,
  lead,
  back,
  button: "Cancel its payment",
  isStop: true,
  title: () => "Cancel a payment",
  at: (history) => billActPage(history, "cancel"),
  says: (history) =>
    html`<p>
      ${recallText(history)} If the cancel comes too late, its result says so. The bill goes on hold
      first, so that no run pays it again.
    </p>`,
  act: async ({ api }, history, reason) => {
    const { business, payments } = history;
    const ids = payments.filter(({ status }) => isRecallable(status)).map(({ id }) => id);
    const body = {
      payments: ids.length === 0 ? payments.map(({ id }) => id) : ids,
      reason,
      business,
    };
    const { id } = await api.post(CancellationStatusBody, "/v1/cancellations", { body });
    return { goTo: runPage(id) };
  },
});

/** Builds the act that decides what happens to a bill that waits for a person. */
function resolving(
  action: "retry" | "paid-elsewhere" | "give-up",
  of: { readonly title: string; readonly button: string; readonly says: string },
) {
  return asking<PayableHistory>({
    subject,
    lead,
    back,
    button: of.button,
    title: () => of.title,
    at: (history) => billActPage(history, action),
    says: () => html`<p>${of.says}</p>`,
    act: async ({ api }, history, reason) => {
      const { payableId: id, business } = history;
      const asked = { params: { id }, query: { business }, body: { action, reason } };
      const done = await api.post(ResolutionBody, "/v1/payables/{id}/resolution", asked);
      const otherwise = notTriedNowText(done);
      if (otherwise === undefined) return doneAt(history, action);
      return {
        title: done.approvalEnded === undefined ? "On hold" : "Left to the next run",
        lead: lead(history),
        main: html`${note("warn", html`<p>${otherwise}</p>`)}
          <p>
            <a href="${back(history)}">The bill</a> ·
            <a href="/needs-action">What else needs action</a>
          </p>`,
      };
    },
  });
}

export const RESOLUTIONS = {
  retry: {
    title: "Try again",
    button: "Try again",
    says: "Payrun first looks up what happened to its payments, and pays only what is still owed. Only what Nacha allows to be tried again is sent again under its approval; anything else is planned by the next run and asks for a new approval.",
  },
  "paid-elsewhere": {
    title: "Paid elsewhere",
    button: "It was paid elsewhere",
    says: "It ends here. A hold without end keeps every run from paying it.",
  },
  "give-up": {
    title: "Give up",
    button: "Give it up",
    says: "It is not paid any more: a hold without end keeps every run from paying it, until a person releases the hold.",
  },
} as const;

export const retryBill = resolving("retry", RESOLUTIONS.retry);
export const paidElsewhere = resolving("paid-elsewhere", RESOLUTIONS["paid-elsewhere"]);
export const giveUpAct = resolving("give-up", RESOLUTIONS["give-up"]);
