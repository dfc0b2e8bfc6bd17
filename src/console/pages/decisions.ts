import { html } from "../html.ts";
import type { Report } from "../../api/report.ts";
import { vendorPage } from "../../contracts/console-pages.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { foldedUp, pageTable } from "../elements.ts";
import { type Markup, when } from "../words.ts";

type Counted = Report["decisions"]["counted"][number];
type Confirmed = Report["decisions"]["confirmed"][number];

/** Lists who decided about a run: the decisions that count, and those that don't. */
export function decisions({
  decisions: { counted, confirmed, refused, singlePerson },
  business,
  zone,
  phase,
}: Report): Markup {
  const list =
    counted.length === 0
      ? html`<p class="quiet">Nobody has decided${ENDED_PHASES.includes(phase) ? "" : " yet"}.</p>`
      : pageTable(
          "Those that count",
          [
            {
              title: "Who",
              isHead: true,
              cell: ({ by, roles }: Counted) =>
                html`${by}<span class="under">${roles.join(", ")}</span>`,
            },
            { title: "Decision", cell: (decision) => said(decision, business) },
            { title: "When", cell: ({ at }) => when(at, zone) },
          ],
          counted,
        );
  const accounts = html`<ul>
    ${confirmed.map((each) => confirmedItem(each, business, zone))}
  </ul>`;
  const others = html`<ul>
    ${refused.map(({ by, at, reason, code }) => html`<li>${by}, ${when(at, zone)}: ${reason === "" ? code : reason}</li>`)}
  </ul>`;
  return html`${singlePerson ? html`<p>One person may launch and approve in this business.</p>` : ""}
  ${list} ${confirmed.length === 0 ? "" : foldedUp("Accounts that are still right", accounts)}
  ${refused.length === 0 ? "" : foldedUp(`Decisions that don’t count (${refused.length})`, others)}`;
}

function confirmedItem(
  { by, at, comment, records, hurry }: Confirmed,
  business: string,
  zone: string,
): Markup {
  return html`<li>
    ${by},
    ${when(at, zone)}${hurry === null ? "" : html`, hurried: ${hurry}`}${comment === null ? "" : html`, “${comment}”`}:
    ${records.map(
      ({ contactId, contactName }) =>
        html` <a href="${vendorPage(contactId, business)}">${contactName ?? contactId}</a>`,
    )}
  </li>`;
}

function said(
  { decision, hurry, comment, verifiedBankChanges }: Counted,
  business: string,
): Markup {
  return html`${decision === "approve" ? "Approved" : "Rejected"}
  ${hurry === null ? "" : html`<span class="under">Hurried: ${hurry}</span>`}
  ${comment === null ? "" : html`<span class="under">“${comment}”</span>`}
  ${verifiedBankChanges.map(
    ({ contactId, contactName, person, phone }) =>
      html`<span class="under"
        >New bank account of
        <a href="${vendorPage(contactId, business)}">${contactName ?? contactId}</a> verified with
        ${person}, called on ${phone}</span
      >`,
  )}`;
}
