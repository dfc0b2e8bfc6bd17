import { html } from "../html.ts";
import { type RunReview, RunReviewBody } from "../../api/review.ts";
import { runPage, vendorPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { form, hidden, section, submit } from "../elements.ts";
import type { ActOf, PageRequest } from "../page.ts";
import type { Markup } from "../words.ts";
import { decided } from "./decision.ts";

/** Asks of which vendors the account is still right, although their record was changed. */
export function changedRecords({ visitor }: PageRequest, review: RunReview): Markup | "" {
  const { id, business, planHash, changedRecords: records } = review;
  if (records.length === 0) return "";
  const rows = records.map(
    ({ contactId, contactName, updatedAt, text, count, cents }) =>
      html`<label class="choice"
        ><input
          type="checkbox"
          name="record"
          value="${JSON.stringify({ contactId, updatedAt })}"
          checked
        /><span
          ><strong>${contactName ?? contactId}</strong>${counted(count, "bill")} of
          ${formatUsd(cents)}. ${text}
          <a href="${vendorPage(contactId, business)}">The vendor</a></span
        ></label
      >`,
  );
  return section(
    "Is the account still right?",
    form(
      visitor,
      `${runPage(id)}/accounts`,
      html`<p>
          These records were changed after the approval. The other approvals stand; one word for
          each vendor is enough. Untick those that you aren’t sure of.
        </p>
        ${hidden("plan", planHash ?? "")}
        <fieldset>
          <legend>Vendors whose account is still right</legend>
          ${rows}
        </fieldset>
        <div class="acts">${submit("Their accounts are still right")}</div>`,
    ),
    "accounts",
  );
}

export const confirmAccountsAct: ActOf = async (request) => {
  const { api, params, form: sent } = request;
  const id = params["id"] ?? "";
  const review = await api.get(RunReviewBody, "/v1/runs/{id}/review", {
    params: { id },
    query: { pageSize: "1" },
  });
  const checking = { id, planHash: sent.get("plan") ?? "", out: [] };
  return decided(request, checking, review, {
    decision: "approve",
    confirmedRecords: sent.getAll("record").map((record) => JSON.parse(record) as unknown),
  });
};
