import { stoppedTexts } from "../../domain/runs/stopped-texts.ts";
import { html } from "../html.ts";
import { type Report, ReportBody } from "../../api/report.ts";
import { type RunReview, RunReviewBody } from "../../api/review.ts";
import { AnyStatusBody } from "../../api/statuses.ts";
import { HELD_BY } from "./ask.ts";
import { depositPage, reportPage, runPage, stopPage } from "../../contracts/console-pages.ts";
import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { counted } from "../../domain/counted.ts";
import { isPast, spokenDeadline } from "../../domain/clock/spoken.ts";
import { NOT_USED_UP } from "../../domain/planning/left-out.ts";
import { wouldHavePaid } from "../../domain/plan-only.ts";
import { formatUsd } from "../../domain/money.ts";
import { facts, foldedUp, live, note, section } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import { pageNumberOf, type PageOf, type PageRequest } from "../page.ts";
import { progressPicture } from "../pictures/progress.ts";
import { Refused } from "../refused.ts";
import { badge, dayText, type Markup, phaseShown, usd, wholeNumber } from "../words.ts";
import { depositNeeds } from "./deposit.ts";
import { changedRecords } from "./changed-records.ts";
import { decisions } from "./decisions.ts";
import { billsForm, type May, nameOfAccount } from "./run-bills.ts";
import { otherWorkflow } from "./other-workflow.ts";

/** Bills on one page. */
const BILLS_A_PAGE = 50;
/** Payments of a cancellation on one page. */
const OTHERS_A_PAGE = 100;

/** Shows a run: first what an approver decides by, then where the run stands. */
export const run: PageOf = async (request) => {
  const { api, params, query } = request;
  const id = params["id"] ?? "";
  const page = pageNumberOf(query);
  try {
    const asked = { params: { id }, query: { page: String(page), pageSize: String(BILLS_A_PAGE) } };
    const [review, report] = await Promise.all([
      api.get(RunReviewBody, "/v1/runs/{id}/review", asked),
      api.get(ReportBody, "/v1/runs/{id}/report", { params: { id } }),
    ]);
    const mayHold = await request.visitor.mayHold(review.business);
    return pageOf(request, review, report, mayHold);
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "no_pay_run") throw error;
    const asked = { page: String(page), pageSize: String(OTHERS_A_PAGE) };
    return otherWorkflow(
      await api.get(AnyStatusBody, "/v1/runs/{id}", { params: { id }, query: asked }),
      request,
    );
  }
};

function pageOf(
  request: PageRequest,
  review: RunReview,
  report: Report,
  mayHold: boolean,
): PageContent {
  const { id, playbook, period, phase, planOnly, waiting, plan } = review;
  const isOver = ENDED_PHASES.includes(phase);
  const isOpen = waiting.count > 0 && !isOver;
  const decides = isOpen ? mayOf(review.yours) : { approve: false, reject: false };
  const may = { ...decides, hold: mayHold };
  return {
    title: `${playbook} ${period}`,
    lead: live("phase", html`${badge(phaseShown(phase, planOnly))} ${review.waitingFor ?? ""}`),
    planHash: review.planHash ?? undefined,
    main: html` ${stoppedTexts(review).map((text) => note("warn", html`<p>${text}</p>`))}
    ${review.nothingToPay === true ? note("info", html`<p>${NOT_USED_UP}</p>`) : ""}
    ${review.outcome === undefined ? "" : note("warn", html`<p>In all, ${review.outcome}.</p>`)}
    ${planOnly === true && isOver ? note("info", html`<p>It ${wouldHavePaid(plan)}.</p>`) : ""}
    ${isOpen ? section(may.reject ? "What you decide about" : "What waits for a decision", html`${figures(review)}${share(review)}${may.reject && plan.count > 0 ? TO_DECISION : ""}`) : ""}
    ${review.warnings.map((warning) => note("warn", html`<p>${warning}</p>`))}
    ${changedRecords(request, review)} ${deposits(request, review)}
    ${isOpen ? "" : section("The plan", figures(review))}
    ${live("progress", planOnly !== true && (isOver || phase !== "awaiting-approval") ? section("Where the money is", progressPicture(report)) : "")}
    ${plan.count === 0 ? html`<p>${phase === "planning" ? "It is being planned: look again in a moment." : "It has no bill to pay."}</p>` : billsForm(request, review, may)}
    ${leftOut(review)} ${section("Decisions", decisions(report))}
    ${section(
      "More",
      html`<div class="acts">
          <a class="button quiet" href="${reportPage(id)}">Report</a>
          ${
            isOver
              ? ""
              : html`${mayHold ? html`<a class="button quiet" href="${runPage(id)}/hold">Hold this run</a>` : ""}
                ${request.visitor.mayOperate ? html`<a class="button quiet" href="${runPage(id)}/cancel">Cancel what is not sent</a>` : ""}
                ${
                  mayHold
                    ? html`<a
                        class="button stop line"
                        href="${stopPage({ run: id, business: review.business })}"
                        >Stop this run</a
                      >`
                    : ""
                }`
          }
        </div>
        ${isOver || mayHold ? "" : HELD_BY}`,
    )}`,
  };
}

/** Returns what the visitor may decide: a decision that would be refused is not offered. */
function mayOf(yours: RunReview["yours"]): Pick<May, "approve" | "reject"> {
  const { refusal, goesOut, newDates, onHold, oneOfSeveral, given, mayReject } = yours;
  const bills = goesOut.count + (newDates?.count ?? 0) + onHold.count;
  const counts = bills + oneOfSeveral.length + given.length > 0;
  return { approve: refusal === null && counts, reject: mayReject };
}

/** A link to the decision: on a phone, flagged and late bills fill many screens before it. */
const TO_DECISION = html`<div class="acts">
  <a class="button quiet" href="#decide">To your decision</a>
</div>`;

function figures(review: RunReview): Markup {
  const { plan, waiting, accounts, decideBy, firstPayment, launchedBy } = review;
  const part = waiting.count > 0 ? waiting : plan;
  const isPart = part.count !== plan.count;
  return facts([
    [
      "Sum",
      html`${usd(part.cents)}<span class="sub"
          >${counted(part.count, "bill")}${isPart ? `; planned: ${wholeNumber(plan.count)}, ${formatUsd(plan.cents)}` : ""}</span
        >`,
    ],
    [
      "First payment",
      firstPayment === null
        ? "–"
        : html`${dayText(firstPayment)}<span class="sub">each bill below has its day</span>`,
    ],
    [
      "Account",
      accounts.length === 0
        ? "–"
        : html`${accounts.map((account) => html`${nameOfAccount(account)}<br />`)}`,
    ],
    ["Launched by", launchedBy],
    // Once everything is decided, there is no deadline.
    ...(decideBy === null && waiting.count === 0 ? [] : [deadline(review)]),
  ]);
}

function deadline({ decideBy, ...moment }: RunReview): readonly [string, unknown, "long"] {
  const text =
    decideBy === null
      ? html`–<span class="sub">no deadline</span>`
      : isPast(decideBy, moment)
        ? html`Passed<span class="sub">approving now changes dates</span>`
        : html`${spokenDeadline(decideBy, moment)}<span class="sub">later, dates change</span>`;
  return ["Decide by", text, "long"];
}

function share({ yours, missing }: RunReview): Markup {
  const tone = yours.refusal === null ? "info" : "warn";
  const waits = missing.map(
    ({ by, quorum, approvals, lines, totalCents }) =>
      html`<li>
        ${counted(lines, "bill")}, ${formatUsd(totalCents)}:
        ${by.join(" or ")}${quorum > 1 ? ` (${approvals} of ${quorum})` : ""}
      </li>`,
  );
  return html`${note(tone, html`<p>${yours.summary}</p>`)}
  ${
    waits.length === 0
      ? ""
      : foldedUp(
          "Whose turn it is",
          html`<ul>
            ${waits}
          </ul>`,
        )
  }`;
}

function deposits({ visitor }: PageRequest, { id, topUps = [], planHash }: RunReview): Markup {
  const open = topUps.filter(({ state }) => state === "proposed");
  return html`${open.map((topUp) =>
    section(
      "A deposit is needed",
      html`<p>
          ${formatUsd(topUp.amountCents)} into the balance, needed on ${dayText(topUp.neededOn)}: it
          must be made by ${dayText(topUp.makeBy)}. Approved by
          ${topUp.approvedBy.join(", ") || "nobody"}; it needs ${depositNeeds(topUp)}.
        </p>
        <div class="acts">
          <a class="button quiet" href="${depositPage(id, topUp.hash, planHash)}"
            >Decide about the deposit</a
          >
        </div>`,
      `deposit-${visitor.name === "" ? "" : topUp.hash.slice(0, 8)}`,
    ),
  )}`;
}

function leftOut({ leftOut: { count, byReason } }: RunReview): Markup | "" {
  if (count === 0) return "";
  const list = html`<ul>
    ${byReason.map(({ reason, count: some }) => html`<li>${wholeNumber(some)} ${reason}</li>`)}
  </ul>`;
  return section(
    "Not in the plan",
    foldedUp(`${counted(count, "bill")} left out by the plan`, list),
    "left-out",
  );
}
