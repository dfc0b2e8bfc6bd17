import { html } from "hono/html";
import type { Report } from "../../api/report.ts";
import { vendorPage } from "../../contracts/console-pages.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { folded, table } from "../elements.ts";
import { type Markup, when } from "../words.ts";

type Counted = Report["decisions"]["counted"][number];

/** Lists who decided about a run: the decisions that count, and those that don't. */
export function decisions({
  decisions: { counted, refused, singlePerson },
  business,
  zone,
  phase,
}: Report): Markup {
  const list =
    counted.length === 0
      ? html`<p class="quiet">Nobody has decided${ENDED_PHASES.includes(phase) ? "" : " yet"}.</p>`
      : table(
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
  const others = html`<ul>
    ${refused.map(({ by, at, reason, code }) => html`<li>${by}, ${when(at, zone)}: ${reason === "" ? code : reason}</li>`)}
  </ul>`;
  return html`${singlePerson ? html`<p>One person may launch and approve in this business.</p>` : ""}
  ${list}
  ${refused.length === 0 ? "" : folded(`Decisions that don’t count (${refused.length})`, others)}`;
}

function said({ decision, comment, verifiedBankChanges }: Counted, business: string): Markup {
  return html`${decision === "approve" ? "Approved" : "Rejected"}
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
