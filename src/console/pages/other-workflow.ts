import { html } from "../html.ts";
import type { AnyStatus } from "../../api/statuses.ts";
import { billPage, releasePage, runPage } from "../../contracts/console-pages.ts";
import { KYB_STEPS } from "../../contracts/onboarding.ts";
import { kindCalled } from "../../contracts/workflow-kinds.ts";
import { facts, live, pager, section, pageTable } from "../elements.ts";
import type { MadePage, PageRequest } from "../page.ts";
import type { Visitor } from "../visitor.ts";
import { badge, cancellationStateOf, type Markup, phaseShown, usd, when } from "../words.ts";
import { hasRole } from "../../domain/approvals/token.ts";

/**
 * Shows a workflow that is no pay run. A retry leads to its bill's page, an incident to the
 * decisions. A kind without a page of its own shows where it stands.
 */
export function otherWorkflow(status: AnyStatus, { params, visitor }: PageRequest): MadePage {
  const id = params["id"] ?? "";
  switch (status.kind) {
    case "funding-incident":
      return { goTo: "/needs-action" };
    case "cancel-scheduled":
    case "hold":
      return cancellation(status, id, visitor);
    case "pay-run":
    case "retry-failed-payment": {
      const [payment] = status.payments;
      return { goTo: payment === undefined ? "/" : billPage(payment.payableId, status.business) };
    }
    default:
      return whereItStands(status, id);
  }
}

/** Shows what the status of every kind has, and the commands that say and do more. */
function whereItStands(status: AnyStatus, id: string): MadePage {
  const { business, kind, phase, waitingFor } = status;
  const called = kindCalled(kind);
  const step = kind === "kyb-onboarding" ? KYB_STEPS.find((each) => each === phase) : undefined;
  return {
    title: `${called} of ${business}`,
    lead: html`${badge(phaseShown(phase))} ${waitingFor === null ? "" : `waits for ${waitingFor}`}`,
    main: section(
      "On the command line",
      html`<p>
          ${called} has no page
          yet.${step === undefined ? " This shows where it stands:" : " These show where it stands, and give what it asks for:"}
        </p>
        <pre>
payrun status ${id}${step === undefined ? "" : `\npayrun provide ${business} ${step} --file ${step}.json`}</pre>`,
    ),
  };
}

type Cancellation = Extract<AnyStatus, { readonly kind: "cancel-scheduled" | "hold" }>;
type Item = Cancellation["payments"][number];

function cancellation(status: Cancellation, id: string, visitor: Visitor): MadePage {
  const zone = visitor.zoneOf(status.business);
  const { business, kind, launchedBy, launchedAt, reason, waitingFor } = status;
  return {
    title: kind === "hold" ? "Bills held back" : "Cancellation",
    lead: live(
      "phase",
      html`${badge(phaseShown(status.phase))}
      ${waitingFor === null ? "" : `waits for ${waitingFor}`}`,
    ),
    main: html`${section(
      "What was asked",
      facts([
        ["Sum", usd(status.totalCents)],
        ["By", launchedBy],
        ["Since", when(launchedAt, zone), "long"],
        ["Why", reason],
      ]),
    )}${live(
      "payments",
      section(
        "Payments",
        pageTable(
          "What happened to each",
          [
            {
              title: "Bill",
              isHead: true,
              cell: ({ payableId, paymentId, publicId, contactName }: Item) =>
                payableId === null
                  ? (paymentId ?? "–")
                  : html`<a href="${billPage(payableId, business)}"
                        >${contactName ?? publicId ?? payableId}</a
                      ><span class="under">${publicId ?? payableId}</span>`,
            },
            {
              title: "State",
              cell: ({ state, releaseBy, reason: why }) =>
                html`${badge(cancellationStateOf(state))}${state === "withheld" && releaseBy !== null && why === null ? html`<span class="under">released by ${when(releaseBy, zone)} it is paid on its date</span>` : ""}${why === null ? "" : html`<span class="under ${state === "cancelled" ? "" : "why"}">${why}</span>`}`,
            },
            {
              title: "Amount",
              isNumber: true,
              cell: ({ amountCents }) => (amountCents === null ? "–" : usd(amountCents)),
            },
          ],
          status.payments,
        ),
      ),
    )}${releaseOf(status, visitor)}${pager(status, (to) => `${runPage(id)}?page=${to}`)}`,
  };
}

/**
 * Returns the link to release the bills that this page shows as held back, for visitors who may.
 */
function releaseOf({ releasedBy, payments }: Cancellation, visitor: Visitor): Markup | "" {
  const kept = payments.filter(({ state }) => state === "withheld");
  const holds = kept.flatMap(({ holdId }) => holdId ?? []);
  if (holds.length === 0 || !hasRole(visitor, releasedBy)) return "";
  return html`<div class="acts">
    <a class="button" href="${releasePage(holds)}">Release what is held back</a>
  </div>`;
}
