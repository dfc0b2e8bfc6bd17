import { html } from "../html.ts";
import { type PlanChanges, PlanChangesBody } from "../../api/plan-changes.ts";
import type { RunReview } from "../../api/review.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import type { Api } from "../api.ts";
import { note, section, pageTable } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import { dayText, usd } from "../words.ts";
import { billLink } from "./run-bills.ts";

type Change = PlanChanges["lines"][number];

/**
 * Builds the page that replaces a decision if the plan has changed since the person looked at it,
 * with the differences.
 */
export async function changedPlan(
  api: Api,
  { id, planHash }: { readonly id: string; readonly planHash: string },
  review: Pick<RunReview, "business" | "playbook" | "period" | "planHash">,
): Promise<PageContent> {
  const changes = await api.find(PlanChangesBody, "/v1/runs/{id}/plan-changes", {
    params: { id },
    query: { since: planHash === "" ? "-" : planHash },
  });
  const { business } = review;
  const both = (before: unknown, after: unknown) =>
    html`${after}<span class="under">was ${before}</span>`;
  return {
    title: "The plan has changed",
    lead: `${review.playbook} ${review.period}`,
    status: 409,
    planHash: review.planHash ?? undefined,
    main: html`${note("stop", html`<p>What you looked at is no longer the plan. Nothing was decided. <a href="${runPage(id)}">Look at the plan as it is now</a></p>`)}
    ${
      changes === undefined
        ? html`<p>
            The plan that you looked at is not known here, so the difference can’t be shown.
          </p>`
        : section(
            `${counted(changes.lines.length, "bill")} changed`,
            pageTable(
              "As it is now, and as it was when you looked",
              [
                {
                  title: "Bill",
                  isHead: true,
                  cell: (change: Change) => billLink(change, business),
                },
                {
                  title: "Amount",
                  isNumber: true,
                  cell: ({ before, after }) =>
                    before.amountCents === after.amountCents
                      ? usd(after.amountCents)
                      : both(usd(before.amountCents), usd(after.amountCents)),
                },
                {
                  title: "Pays",
                  cell: ({ before, after }) =>
                    before.executionDate === after.executionDate
                      ? dayText(after.executionDate)
                      : both(dayText(before.executionDate), dayText(after.executionDate)),
                },
                {
                  title: "Vendor’s account",
                  cell: ({ before, after }) =>
                    before.bankLast4 === after.bankLast4
                      ? `··${after.bankLast4 ?? "none"}`
                      : both(`··${before.bankLast4 ?? "none"}`, `··${after.bankLast4 ?? "none"}`),
                },
                { title: "Why", isText: true, cell: ({ reason }) => reason ?? "–" },
              ],
              changes.lines,
            ),
            "changes",
          )
    }`,
  };
}
