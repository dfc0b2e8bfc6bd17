import { html } from "../html.ts";
import type { RunReview } from "../../api/review.ts";
import { depositPage, runPage } from "../../contracts/console-pages.ts";
import { coversAll } from "../../domain/approvals/money-reach.ts";
import { missingText } from "../../domain/approvals/share-texts.ts";
import { formatUsd } from "../../domain/money.ts";
import type { Api } from "../api.ts";
import { choices, facts, field, form, hidden, note, section, submit } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import { dayText, type Markup, usd } from "../words.ts";
import { type Checking, checkingOf, decided, reviewWithout } from "./decision.ts";
import { moneyNotes } from "./money-notes.ts";
import { changedPlan } from "./plan-changes.ts";

/** Shows the deposit that a run asks for, to check before the decision. */
export const checkDeposit: PageOf = async ({ api, params, query, visitor }) => {
  const checking = checkingOf(params, query);
  const kept = await visitor.keptForm(`${runPage(checking.id)}/deposit`);
  const hash = query.get("topUp") ?? "";
  const said = kept?.get("topUp") === hash ? kept : new URLSearchParams();
  return decisionPage(api, visitor, checking, { hash, said });
};

const CHOICES = [
  [
    "approve",
    "Approve the deposit",
    "It is made as soon as it has all its approvals, and what waits for it is paid once it is there.",
  ],
  ["reject", "Refuse it", "This run asks for no other: it pays what the balance covers."],
] as const;

interface Said {
  readonly hash: string;
  readonly said: URLSearchParams;
  readonly problem?: string;
}

async function decisionPage(
  api: Api,
  visitor: PageRequest["visitor"],
  checking: Checking,
  { hash, said, problem }: Said,
): Promise<PageContent> {
  const { id, planHash } = checking;
  const review = await reviewWithout(api, checking);
  if (review.planHash !== planHash) return changedPlan(api, checking, review);
  const topUp = review.topUps?.find((each) => each.hash === hash);
  if (topUp === undefined) {
    throw new Refused(409, "moved_on", "This deposit is not asked for any more, or has changed.");
  }
  return {
    title: "Decide about the deposit",
    lead: `${review.playbook} ${review.period}`,
    planHash,
    status: problem === undefined ? 200 : 422,
    main: section(
      `${formatUsd(topUp.amountCents)} into the balance`,
      html`${facts([
        ["Amount", usd(topUp.amountCents)],
        ["Made by", dayText(topUp.makeBy)],
        ["There on", dayText(topUp.arrivesOn)],
        ["Approved by", topUp.approvedBy.join(", ") || "nobody yet"],
        ["Needs", depositNeeds(topUp)],
      ])}
      ${form(
        visitor,
        `${runPage(id)}/deposit`,
        html`${hidden("plan", planHash)}${hidden("topUp", topUp.hash)}
          ${choices({ legend: "Your decision", name: "decision", of: CHOICES, chosen: said.get("decision"), problem })}
          ${field({ name: "comment", label: "Comment", isRequired: false, value: said.get("comment") ?? "" })}
          <div class="acts">${submit("Decide")}<a href="${runPage(id)}">Back to the run</a></div>`,
      )}`,
    ),
  };
}

/** Names whom a deposit waits for: `the owner`. */
export function depositNeeds(topUp: {
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly approvedBy: readonly string[];
}): string {
  const { approvers: by, quorum, approvedBy } = topUp;
  return missingText({ by, quorum, approvals: approvedBy.length });
}

export const decideDeposit: ActOf = async (request) => {
  const { api, params, form: sent, visitor } = request;
  const checking = checkingOf(params, sent);
  const comment = (sent.get("comment") ?? "").trim();
  const hash = sent.get("topUp") ?? "";
  const decision = CHOICES.find(([choice]) => choice === sent.get("decision"))?.[0];
  if (decision === undefined) {
    const problem = "Say whether it is approved or refused.";
    return decisionPage(api, visitor, checking, { hash, said: sent, problem });
  }
  const review = await reviewWithout(api, checking);
  return decided(request, checking, review, {
    decision,
    topUpHash: hash,
    ...(comment === "" ? {} : { comment }),
  });
};

/**
 * Shows that approved bills without enough money wait for a deposit, which is a separate decision.
 */
export function shortOfMoney(
  review: Pick<RunReview, "id" | "topUps" | "planHash" | "accounts" | "zone">,
): Markup | "" {
  const { id, topUps = [], planHash, accounts } = review;
  const open = topUps.find(({ state }) => state === "proposed");
  if (open === undefined) {
    return html`${moneyNotes(review)}`;
  }
  const page = depositPage(id, open.hash, planHash);
  if (coversAll(accounts)) {
    return note(
      "info",
      html`<p>
        <a href="${page}">A deposit</a> of ${formatUsd(open.amountCents)} is still asked for.
      </p>`,
      "The balance covers all of it now",
    );
  }
  return note(
    "warn",
    html`<p>
      It is short by ${formatUsd(open.amountCents)}: of what you approve only what it covers goes
      out until <a href="${page}">a deposit</a> is approved as well, and has arrived.
    </p>`,
    "The balance doesn’t cover all of it",
  );
}
