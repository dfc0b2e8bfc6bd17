import { html } from "../html.ts";
import { type RunReview, RunReviewBody } from "../../api/review.ts";
import { type DecisionView, DecisionBody } from "../../api/schemas.ts";
import { billPage, runPage } from "../../contracts/console-pages.ts";
import { effectText } from "../../domain/approvals/share-texts.ts";
import type { Api } from "../api.ts";
import { note } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { MadePage, PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import type { Markup } from "../words.ts";
import { moneyNotes } from "./money-notes.ts";
import { changedPlan } from "./plan-changes.ts";

/** Most bills that one decision leaves out here: an address holds no more ids. */
const LEFT_OUT_MOST = 200;

/** What is checked before a decision: the run, the plan that was looked at, the bills left out. */
export interface Checking {
  readonly id: string;
  readonly planHash: string;
  readonly out: readonly string[];
}

export function checkingOf(params: PageRequest["params"], said: URLSearchParams): Checking {
  const out = [...new Set(said.getAll("out"))];
  if (out.length > LEFT_OUT_MOST) {
    throw new Refused(
      422,
      "too_many_left_out",
      `At most ${LEFT_OUT_MOST} bills can be left out at once here: approve in parts, reject the plan, or use payrun approve --drop.`,
    );
  }
  return { id: params["id"] ?? "", planHash: said.get("plan") ?? "", out };
}

/** Reads what an approval that leaves these bills out would do. */
export function reviewWithout(api: Api, { id, out }: Checking): Promise<RunReview> {
  return api.get(RunReviewBody, "/v1/runs/{id}/review", {
    params: { id },
    query: { pageSize: "1", ...(out.length === 0 ? {} : { drop: out.join(",") }) },
  });
}

/**
 * Submits the decision. If the plan has changed at this moment, nothing is decided, and the page
 * says what has changed.
 */
export async function decided(
  { api, visitor, form }: PageRequest & { readonly form: URLSearchParams },
  checking: Checking,
  review: Pick<
    RunReview,
    "playbook" | "period" | "yours" | "accounts" | "zone" | "business" | "dropped"
  >,
  body: Readonly<Record<string, unknown>>,
): Promise<MadePage> {
  const { id, planHash } = checking;
  try {
    const answer = await api.post(DecisionBody, "/v1/runs/{id}/decisions", {
      params: { id },
      body: { planHash, ...body },
    });
    const already = answer.alreadySince === undefined ? "" : " already";
    return {
      title: `${answer.decision === "approve" ? "Approved" : "Rejected"}${already}`,
      lead: `${review.playbook} ${review.period}`,
      main: html`${note("good", html`<p>${summaryOf(answer, review)}</p>`, `Your ${answer.decision === "approve" ? "approval" : "rejection"} counts${already}`)}
        ${isOut(answer) ? moneyNotes(review) : ""}
        ${
          answer.leftOut === undefined
            ? ""
            : html`<p>${answer.leftOut}</p>
                ${toHold(review)}`
        }
        <p>
          It is in the audit trail. <a href="${runPage(id)}">Follow the run</a>, or go back to
          <a href="/">Today</a>.
        </p>`,
    };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "sign_in_too_old") {
      const page = new URL(askedOn(checking, form), "http://localhost");
      await visitor.keepForm(page.pathname, form);
      return signInAgain(`${page.pathname}${page.search}`, error.message);
    }
    if (error.code !== "stale_plan") throw error;
    return changedPlan(api, checking, await reviewWithout(api, checking));
  }
}

/** Links the bills that were left out, each of whose pages has the hold. */
function toHold({ business, dropped }: Pick<RunReview, "business" | "dropped">): Markup {
  const links = dropped
    .slice(0, LINKED_MOST)
    .map(
      ({ payableId, publicId }) =>
        html`<a href="${billPage(payableId, business)}">Hold ${publicId ?? payableId}</a> `,
    );
  return html`<p>${links}</p>`;
}

/** Bills whose pages are linked; the run's page has them all. */
const LINKED_MOST = 20;

/**
 * Summarizes the result. The gateway decides by what is stored; the review also knows the account's
 * money.
 */
function summaryOf(answer: DecisionView, { yours: { money } }: Pick<RunReview, "yours">): string {
  return isOut(answer) && money !== undefined ? effectText({ ...answer, money }) : answer.summary;
}

/** Returns true if the decision lets bills go out. */
function isOut({ goesOut, alreadySince }: DecisionView): boolean {
  return goesOut.count > 0 && alreadySince === undefined;
}

/**
 * Returns the page that asked for the decision: a deposit's, or the plan's. The bills left out are
 * in the kept form: there may be more of them than an address can carry through a sign-in.
 */
function askedOn({ id, planHash }: Checking, form: URLSearchParams): string {
  if (form.has("record")) return runPage(id);
  const topUp = form.get("topUp");
  if (topUp === null) return `${runPage(id)}/approve?plan=${encodeURIComponent(planHash)}&kept=yes`;
  const query = new URLSearchParams({ plan: planHash, topUp });
  return `${runPage(id)}/deposit?${query.toString()}`;
}

/**
 * Builds the page that asks for a recent sign-in, which a large sum requires. The person then
 * returns to the same page.
 */
export function signInAgain(page: string, why: string): PageContent {
  return {
    title: "Sign in again first",
    status: 403,
    main: html`${note("warn", html`<p>${why} What you have filled in is there again afterwards.</p>`, "Nothing was decided")}
      <div class="acts">
        <a class="button" href="/sign-in?again=true&amp;to=${encodeURIComponent(page)}"
          >Sign in again</a
        >
        <a href="${page}">Back</a>
      </div>`,
  };
}
