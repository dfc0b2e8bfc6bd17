import { html } from "../html.ts";
import type { PayableHistory } from "../../api/history.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { othersTitle } from "../../domain/payments/others-texts.ts";
import { foldedUp, pageTable } from "../elements.ts";
import { cancellationStateOf, type Markup, usd, when, wholeNumber } from "../words.ts";

type Approval = PayableHistory["approvals"][number];

/** Lists who has approved the bill, and whose decisions don't count. */
export function approvals({ approvals: given, confirmed, refused, zone }: PayableHistory): Markup {
  const none = given.length === 0 ? html`<p class="quiet">Nobody has approved it.</p>` : "";
  const list =
    given.length === 0
      ? ""
      : pageTable(
          "First to last",
          [
            {
              title: "Who",
              isHead: true,
              cell: ({ by, roles }: Approval) =>
                html`${by}<span class="under">${roles.join(", ")}</span>`,
            },
            {
              title: "When",
              cell: ({ at, hurry }) =>
                html`${when(at, zone)}${hurry === null ? "" : html`<span class="under">hurried: ${hurry}</span>`}`,
            },
            { title: "Holds until", cell: ({ expiresAt }) => when(expiresAt, zone) },
            { title: "Said", cell: ({ comment }) => comment ?? "–" },
          ],
          given,
        );
  const still = confirmed.map(
    ({ by, at, hurry }) =>
      html`<p>
        ${by} said, ${when(at, zone)}${hurry === null ? "" : html` (hurried: ${hurry})`}, that the
        vendor’s account is still right.
      </p>`,
  );
  return html`${none}${list}${still}${
    refused.length === 0
      ? ""
      : foldedUp(
          `Decisions that don’t count (${refused.length})`,
          html`<ul>
            ${refused.map(({ by, at, reason }) => html`<li>${by}, ${when(at, zone)}: ${reason}</li>`)}
          </ul>`,
        )
  }`;
}

type Attempt = PayableHistory["attempts"][number];
type Payment = PayableHistory["payments"][number];
type External = PayableHistory["externalPayments"][number];

/** Shows the requests for the bill, their results, and what the trail keeps of them. */
export function requests(history: PayableHistory): Markup {
  const { attempts, payments, cancellations, trail, zone } = history;
  return html` ${
    payments.length === 0
      ? html`<p class="quiet">Payrun has made no payment of it.</p>`
      : pageTable(
          "Payments, as they were seen last",
          [
            {
              title: "Payment",
              isHead: true,
              cell: ({ id }: Payment) => html`<code>${id}</code>`,
            },
            { title: "Status", cell: ({ status }) => status },
            {
              title: "Seen",
              cell: ({ seenAt }) =>
                seenAt === null ? "not since it was made" : when(seenAt, zone),
            },
            { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
          ],
          payments,
        )
  }
  ${others(history)} ${cancelled(cancellations)}
  ${
    attempts.length === 0
      ? ""
      : foldedUp(
          `Requests and keys (${attempts.length})`,
          pageTable(
            "Each request to pay it",
            [
              {
                title: "Request",
                isHead: true,
                cell: ({ seq, state }: Attempt) => `${seq}, ${state}`,
              },
              {
                title: "Idempotency key",
                cell: ({ idempotencyKey }) => html`<code>${idempotencyKey}</code>`,
              },
              {
                title: "Sent",
                cell: ({ sends }) =>
                  html`${sends.map(({ at, result, status }) => html`${when(at, zone)} ${result}${status === undefined ? "" : ` (${status})`}<br />`)}`,
              },
              { title: "Answer", cell: ({ answer }) => answer ?? "–" },
            ],
            attempts,
          ),
        )
  }
  ${ofTrail(trail)}`;
}

/** Lists payments at the service beyond those that Payrun's requests are known to have made. */
function others(history: PayableHistory): Markup | "" {
  const { externalPayments } = history;
  if (externalPayments.length === 0) return "";
  return pageTable(
    othersTitle(history),
    [
      { title: "Payment", isHead: true, cell: ({ id }: External) => html`<code>${id}</code>` },
      { title: "Status", cell: ({ status }) => status },
      { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
    ],
    externalPayments,
  );
}

function cancelled(cancellations: PayableHistory["cancellations"]): Markup | "" {
  if (cancellations.length === 0) return "";
  return html`<ul>
    ${cancellations.map(
      ({ id, state, reason }) =>
        html`<li>
          Cancellation <a href="${runPage(id)}">${shortName(id)}</a>:
          ${cancellationStateOf(state).word.toLowerCase()}${reason === null ? "" : `, ${reason}`}
        </li>`,
    )}
  </ul>`;
}

function ofTrail({ entries, changed }: PayableHistory["trail"]): Markup {
  if (entries === 0) return html`<p class="quiet">The audit trail has no entry about it.</p>`;
  const are =
    entries === 1
      ? "1 entry of the audit trail is"
      : `${wholeNumber(entries)} entries of the audit trail are`;
  return html`<p class="quiet">
    ${are} about
    it${changed.length === 0 ? ", none of them changed" : html`; <strong>${changed.length} are not what was written</strong>`}.
    <code>payrun audit verify</code> checks the whole trail.
  </p>`;
}
