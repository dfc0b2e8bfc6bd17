import { html } from "../html.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { HoldBody, type StopPreview, StopPreviewBody } from "../../api/holds.ts";
import { type Vendor, VendorBody } from "../../api/vendor.ts";
import { billPage, stopPage, vendorPage } from "../../contracts/console-pages.ts";
import { LINE } from "../../contracts/line-states.ts";
import { counted } from "../../domain/counted.ts";
import { facts, foldedUp, live, note, section, pageTable } from "../elements.ts";
import type { PageOf, PageRequest } from "../page.ts";
import {
  amountInState,
  badge,
  billStateOf,
  dayText,
  type Markup,
  paymentStateOf,
  runLink,
  usd,
  when,
} from "../words.ts";
import { asking, HELD_BY } from "./ask.ts";
import { holdSaid, UNTIL, untilProblem } from "./bill-acts.ts";
import { holdsSection } from "./holds.ts";
import { sums } from "./stop.ts";

function vendorOf({ api, params, query }: PageRequest): Promise<Vendor> {
  const business = query.get("business");
  return api.get(VendorBody, "/v1/contacts/{id}", {
    params: { id: params["id"] ?? "" },
    query: business === null ? {} : { business },
  });
}

function nameOf({ name, contactId }: Pick<Vendor, "name" | "contactId">): string {
  return name ?? contactId;
}

/** Shows the account to which one vendor's money goes, and the vendor's open bills. */
export const vendor: PageOf = async (request) => {
  const found = await vendorOf(request);
  const { bills, payments, holds, contactId, business } = found;
  const zone = request.visitor.zoneOf(business);
  const mayHold = await request.visitor.mayHold(business);
  const open = bills.filter(
    ({ state, givenBack }) =>
      !LINE.ended.includes(state) || (state === "parked" && givenBack !== true),
  );
  const rest = bills.filter((bill) => !open.includes(bill));
  return {
    title: nameOf(found),
    lead: html`Vendor <code>${contactId}</code>`,
    main: html` ${request.query.get("done") === "hold" && holds.length > 0 ? note("good", html`<p>The vendor is on hold: nothing new is sent to it.</p>`, "Done") : ""}
    ${section(
      "Bank account",
      html`${account(found, zone)}
      ${
        mayHold
          ? html`<div class="acts">
              <a class="button quiet" href="${holdPage(contactId, business)}">Hold the vendor</a>
              <a class="button stop line" href="${stopPage({ contactId, business })}"
                >Stop the vendor</a
              >
            </div>`
          : HELD_BY
      }`,
    )}
    ${holds.length === 0 ? "" : section("Holds", holdsSection(holds, request.visitor))}
    ${live("open", section(`Open bills in runs (${open.length})`, open.length === 0 ? html`<p class="quiet">No bill of it is open in a run.</p>` : billTable(open, found), "open-bills"))}
    ${section("Payments", paymentTable(payments))}
    ${rest.length === 0 ? "" : section("Earlier bills", foldedUp(counted(rest.length, "bill"), billTable(rest, found)))}`,
  };
};

function holdPage(contactId: string, business: string): string {
  return `${vendorPage(contactId)}/hold?business=${encodeURIComponent(business)}`;
}

function account(
  { bankLast4, accounts, changedAt, status, paymentReady }: Vendor,
  zone: string,
): Markup {
  const [latest, before] = accounts;
  const isNew = latest !== undefined && bankLast4 !== latest.last4;
  const changed =
    isNew || before !== undefined
      ? note(
          "warn",
          html`<p>
            ${isNew ? html`Payments went to ··${latest.last4 ?? "none"} until now. ` : ""}Call the
            vendor on a number that you had before the change before you approve anything to it.
          </p>`,
          "Its bank account has changed",
        )
      : "";
  return html`${changed}${facts([
    ["Account ends in", bankLast4 === null ? "no account" : `··${bankLast4}`],
    [
      "Paid to since",
      latest === undefined || isNew
        ? "not yet"
        : html`${when(latest.since, zone)}<span class="sub">first run with it</span>`,
      "long",
    ],
    [
      "Record changed",
      changedAt === null ? "not since it was made" : when(changedAt, zone),
      "long",
    ],
    [
      "At the service",
      status === null
        ? "can’t be asked now"
        : `${status}${paymentReady === false ? ", can’t be paid" : ""}`,
    ],
  ])}
  ${
    accounts.length < 2
      ? ""
      : foldedUp(
          "Accounts before",
          html`<ul>
            ${accounts.map(({ last4, since, runId }) => html`<li>··${last4 ?? "none"} since ${when(since, zone)} (${runLink(runId)})</li>`)}
          </ul>`,
        )
  }`;
}

type Bill = Vendor["bills"][number];

function billTable(bills: readonly Bill[], { business }: Vendor): Markup {
  return pageTable(
    "By the day on which they pay, the latest first",
    [
      {
        title: "Bill",
        isHead: true,
        cell: ({ payableId, publicId }: Bill) =>
          html`<a href="${billPage(payableId, business)}">${publicId ?? payableId}</a>`,
      },
      {
        title: "Run",
        cell: ({ runId }) => runLink(runId),
      },
      { title: "Due", cell: ({ dueDate }) => dayText(dueDate) },
      { title: "Pays", cell: ({ executionDate }) => dayText(executionDate) },
      {
        title: "State",
        cell: (bill) =>
          html`${badge(billStateOf(bill))}${bill.reason === null ? "" : html`<span class="under why">${bill.reason}</span>`}`,
      },
      { title: "Amount", isNumber: true, cell: amountInState },
    ],
    bills,
  );
}

type Payment = NonNullable<Vendor["payments"]>[number];

function paymentTable(payments: Vendor["payments"]): Markup {
  if (payments === null) return html`<p>The service can’t be asked for its payments now.</p>`;
  if (payments.length === 0) return html`<p class="quiet">No payment to it yet.</p>`;
  return pageTable(
    "The service’s last ones",
    [
      { title: "Day", isHead: true, cell: ({ on }: Payment) => dayText(on === "" ? null : on) },
      { title: "Status", cell: ({ status }) => badge(paymentStateOf(status)) },
      { title: "Payment", cell: ({ paymentId }) => html`<code>${paymentId}</code>` },
      { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
    ],
    payments,
  );
}

type ToHold = Pick<Vendor, "contactId" | "business" | "name"> & Pick<StopPreview, "holds">;

/** Reads the vendor with its open bills, counted as by the command line's hold. */
async function toHold({ api, params, query }: PageRequest): Promise<ToHold> {
  const business = query.get("business");
  const contactId = params["id"] ?? "";
  const of = { contactId, ...definedOnly({ business: business ?? undefined }) };
  const preview = await api.get(StopPreviewBody, "/v1/stops", { query: of });
  return { contactId, business: preview.business, name: preview.name, holds: preview.holds };
}

export const holdVendor = asking<ToHold>({
  subject: toHold,
  lead: nameOf,
  back: ({ contactId, business }) => vendorPage(contactId, business),
  button: "Hold the vendor",
  fields: () => [UNTIL],
  check: untilProblem,
  title: () => "Hold a vendor",
  at: ({ contactId, business }) => holdPage(contactId, business),
  says: ({ holds, contactId, business }) =>
    html`<p>
        No bill of this vendor is sent while the hold lasts. What was sent already is not stopped by
        a hold: <a href="${stopPage({ contactId, business })}">stop the vendor</a> for that.
      </p>
      ${sums(holds, holds.zone)}`,
  act: async ({ api, form }, { contactId, business }, reason) => {
    const body = { contactId, business, ...holdSaid(form, reason) };
    await api.post(HoldBody, "/v1/holds", { body });
    return { goTo: `${vendorPage(contactId, business)}&done=hold` };
  },
});
