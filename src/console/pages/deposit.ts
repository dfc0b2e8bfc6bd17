import { html } from "hono/html";
import type { RunReview } from "../../api/review.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { missingText } from "../../domain/approvals/share-texts.ts";
import { formatUsd } from "../../domain/money.ts";
import { facts, field, form, hidden, note, section } from "../elements.ts";
import type { ActOf, PageOf } from "../page.ts";
import { Refused } from "../refused.ts";
import { day, type Markup, usd } from "../words.ts";
import { checkingOf, decided, reviewWithout } from "./decision.ts";

/** The deposit that a run asks for, as it was looked at. */
export const checkDeposit: PageOf = async ({ api, params, query, visitor }) => {
  const checking = checkingOf(params, query);
  const review = await reviewWithout(api, checking);
  const topUp = review.topUps?.find(({ hash }) => hash === query.get("topUp"));
  if (topUp === undefined) {
    throw new Refused(409, "moved_on", "This deposit is not asked for any more, or has changed.");
  }
  const { id } = checking;
  const kept = await visitor.keptForm(`${runPage(id)}/deposit`);
  const comment = kept?.get("topUp") === topUp.hash ? (kept.get("comment") ?? "") : "";
  return {
    title: "Decide about the deposit",
    lead: `${review.playbook} ${review.period}`,
    main: section(
      `${formatUsd(topUp.amountCents)} into the balance`,
      html`${facts([
        ["Amount", usd(topUp.amountCents)],
        ["Made by", day(topUp.makeBy)],
        ["There on", day(topUp.arrivesOn)],
        ["Approved by", topUp.approvedBy.join(", ") || "nobody yet"],
        ["Needs", depositNeeds(topUp)],
      ])}
      ${form(
        visitor,
        `${runPage(id)}/deposit`,
        html`${hidden("plan", checking.planHash)}${hidden("topUp", topUp.hash)}
          ${field({ name: "comment", label: "Comment", isRequired: false, value: comment })}
          <div class="acts">
            <button name="decision" value="approve">Approve the deposit</button>
            <button class="stop" name="decision" value="reject">Refuse it</button>
            <a href="${runPage(id)}">Back to the run</a>
          </div>`,
      )}`,
    ),
  };
};

/** Whom a deposit waits for: `the owner`. */
export function depositNeeds(topUp: {
  readonly approvers: readonly string[];
  readonly quorum: number;
  readonly approvedBy: readonly string[];
}): string {
  const { approvers: by, quorum, approvedBy } = topUp;
  return missingText({ by, quorum, approvals: approvedBy.length });
}

export const decideDeposit: ActOf = async (request) => {
  const { api, params, form: sent } = request;
  const checking = checkingOf(params, sent);
  const comment = (sent.get("comment") ?? "").trim();
  const review = await reviewWithout(api, checking);
  return decided(request, checking, review, {
    decision: sent.get("decision") === "reject" ? "reject" : "approve",
    topUpHash: sent.get("topUp") ?? "",
    ...(comment === "" ? {} : { comment }),
  });
};

/** What is approved and not covered waits for a deposit, which is a decision of its own. */
export function shortOfMoney({
  id,
  topUps = [],
  planHash,
}: Pick<RunReview, "id" | "topUps" | "planHash">): Markup | "" {
  const open = topUps.find(({ state }) => state === "proposed");
  if (open === undefined) return "";
  const page = `${runPage(id)}/deposit?topUp=${encodeURIComponent(open.hash)}&plan=${encodeURIComponent(planHash ?? "")}`;
  return note(
    "warn",
    html`<p>
      It is short by ${formatUsd(open.amountCents)}: of what you approve only what it covers goes
      out until <a href="${page}">a deposit</a> is approved as well, and has arrived.
    </p>`,
    "The balance doesn’t cover all of it",
  );
}
