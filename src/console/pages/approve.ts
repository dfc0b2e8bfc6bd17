import { html } from "../html.ts";
import type { RunReview } from "../../api/review.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { personProblem, phoneProblem } from "../../domain/approvals/bank-changes.ts";
import { counted } from "../../domain/counted.ts";
import { isPast, spokenDeadline } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import type { Api } from "../api.ts";
import { facts, field, form, hidden, note, section, submit, pageTable } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { usd } from "../words.ts";
import { type Checking, checkingOf, decided, reviewWithout } from "./decision.ts";
import { changedPlan } from "./plan-changes.ts";
import { shortOfMoney } from "./deposit.ts";
import { billLink, nameOfAccount } from "./run-bills.ts";

/** Shows what the approval would do before it is given; showing it decides nothing. */
export const checkApproval: PageOf = async ({ api, params, query, visitor }) => {
  const asked = checkingOf(params, query);
  // The form is never filled in from the address, so that nobody can prepare a link with another
  // person's answers.
  const kept = await visitor.keptForm(`${runPage(asked.id)}/approve`);
  const isSame = kept?.get("plan") === asked.planHash;
  const said = isSame ? kept : new URLSearchParams();
  const checking = query.get("kept") === "yes" && isSame ? checkingOf(params, kept) : asked;
  return checkPage(api, visitor, checking, { said, problems: new Map(), isKept: isSame });
};

interface Filled {
  /** What was typed before. */
  readonly said: URLSearchParams;
  readonly problems: ReadonlyMap<string, string>;
  /** True if it was typed before a sign-in. */
  readonly isKept?: boolean;
}

async function checkPage(
  api: Api,
  visitor: PageRequest["visitor"],
  checking: Checking,
  filled: Filled,
): Promise<PageContent> {
  const { id, planHash, out } = checking;
  const review = await reviewWithout(api, checking);
  if (review.planHash !== planHash) return changedPlan(api, checking, review);
  return {
    title: "Check before you approve",
    lead: `${review.playbook} ${review.period}`,
    planHash,
    status: filled.problems.size === 0 ? 200 : 422,
    main: html` ${filled.isKept === true ? note("info", html`<p>What you had filled in is below. Nothing is decided yet: look at it once more, then approve.</p>`, "You signed in again") : ""}
    ${note(review.yours.refusal === null ? "info" : "warn", html`<p>${review.yours.summary}</p>`)}
    ${review.warnings.map((warning) => note("warn", html`<p>${warning}</p>`))}
    ${section(
      "What you approve",
      html`${facts([
        [
          "Goes out",
          review.yours.money === undefined
            ? usd(review.yours.goesOut.cents)
            : html`${usd(review.yours.goesOut.cents)}<span class="sub"
                  >as far as the money reaches</span
                >`,
        ],
        ["Bills", counted(review.yours.goesOut.count, "bill")],
        ...(review.yours.onHold.count === 0
          ? []
          : [
              [
                "On hold",
                html`${usd(review.yours.onHold.cents)}<span class="sub"
                    >${counted(review.yours.onHold.count, "bill")}</span
                  >`,
              ] as const,
            ]),
        ["Account", review.accounts.map(nameOfAccount).join(", ") || "–"],
        [
          "Decide by",
          review.decideBy === null
            ? "no deadline"
            : isPast(review.decideBy, review)
              ? "Passed: approving now changes dates"
              : spokenDeadline(review.decideBy, review),
          "long",
        ],
      ])}`,
    )}
    ${shortOfMoney(review)} ${leftOut(review, out)}
    ${form(
      visitor,
      `${runPage(id)}/approve`,
      html`${hidden("plan", planHash)}${out.map((payableId) => hidden("out", payableId))}
      ${bankChanges(review, filled)}
      ${section(
        "Approve",
        html`${field({ name: "comment", label: out.length > 0 ? "Why these bills are left out" : "Comment", isRequired: out.length > 0, value: filled.said.get("comment") ?? "", problem: filled.problems.get("comment"), hint: "Kept in the trail." })}
          <div class="acts">${submit("Approve")}<a href="${runPage(id)}">Back to the run</a></div>`,
      )}`,
    )}`,
  };
}

function leftOut({ dropped, business }: RunReview, out: readonly string[]) {
  if (out.length === 0) return "";
  const cents = dropped.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return section(
    `You leave out ${counted(dropped.length, "bill")} of ${formatUsd(cents)}`,
    pageTable(
      "This run doesn't pay these, even if others approve; the next plan has them again",
      [
        {
          title: "Bill",
          isHead: true,
          cell: (bill: RunReview["dropped"][number]) => billLink(bill, business),
        },
        { title: "Amount", isNumber: true, cell: ({ amountCents }) => usd(amountCents) },
      ],
      dropped,
    ),
    "left-out",
  );
}

/**
 * Asks about each vendor's new bank account: whom the approver called, on a number known from
 * before the change.
 */
function bankChanges({ bankChanges: changes }: RunReview, { said, problems }: Filled) {
  if (changes.length === 0) return "";
  return section(
    "Changed bank accounts",
    html`<p>
        A fraudster who poses as a vendor asks for exactly this. Call the vendor on a number that
        you had before the change, not one from the message that announced it.
      </p>
      ${changes.map(({ contactId, contactName, text, count, cents }) => {
        const whom = `whom-${contactId}`;
        const number = `number-${contactId}`;
        return html`<fieldset>
          <legend>
            ${contactName ?? contactId}: ${counted(count, "bill")} of ${formatUsd(cents)}
          </legend>
          <p>${text}</p>
          ${field({ name: whom, label: "Whom did you call?", value: said.get(whom) ?? "", problem: problems.get(whom) })}
          ${field({ name: number, label: "On which number, known from before?", inputmode: "tel", value: said.get(number) ?? "", problem: problems.get(number) })}
        </fieldset>`;
      })}`,
    "bank-changes",
  );
}

export const approve: ActOf = async (request) => {
  const { api, params, form: sent, visitor } = request;
  const checking = checkingOf(params, sent);
  const { planHash, out } = checking;
  const review = await reviewWithout(api, checking);
  if (review.planHash !== planHash) return changedPlan(api, checking, review);
  const verified = review.bankChanges.map(({ contactId }) => ({
    contactId,
    person: (sent.get(`whom-${contactId}`) ?? "").trim(),
    phone: (sent.get(`number-${contactId}`) ?? "").trim(),
  }));
  const comment = (sent.get("comment") ?? "").trim();
  const problems = new Map([
    ...(out.length > 0 && comment === ""
      ? [["comment", "Say why they are left out."] as const]
      : []),
    ...verified.flatMap(({ contactId, person, phone }) => {
      const [whom, number] = [personProblem(person), phoneProblem(phone)];
      return [
        ...(whom === undefined ? [] : [[`whom-${contactId}`, whom] as const]),
        ...(number === undefined ? [] : [[`number-${contactId}`, number] as const]),
      ];
    }),
  ]);
  if (problems.size > 0) return checkPage(api, visitor, checking, { said: sent, problems });
  return decided(request, checking, review, {
    decision: "approve",
    drop: out,
    ...(comment === "" ? {} : { comment }),
    ...(verified.length === 0 ? {} : { verifiedBankChanges: verified }),
  });
};

/** Asks for the reason before a plan is rejected. */
export const checkRejection: PageOf = async ({ api, params, query, visitor }) => {
  return rejectionPage(api, visitor, checkingOf(params, query));
};

async function rejectionPage(
  api: Api,
  visitor: PageRequest["visitor"],
  checking: Checking,
  problem?: string,
): Promise<PageContent> {
  const { id, planHash } = checking;
  const review = await reviewWithout(api, checking);
  if (review.planHash !== planHash) return changedPlan(api, checking, review);
  const { count, cents } = review.waiting;
  return {
    title: "Reject the plan",
    lead: `${review.playbook} ${review.period}`,
    planHash,
    status: problem === undefined ? 200 : 422,
    main: section(
      `${counted(count, "bill")} of ${formatUsd(cents)}`,
      form(
        visitor,
        `${runPage(id)}/reject`,
        html`<p>
            Nothing more of this run is paid, not even what others have approved and what was not
            sent yet. A new run of the same period can be launched.
          </p>
          ${hidden("plan", planHash)}
          ${field({ name: "comment", label: "Why", problem, hint: "The person who launched it reads this." })}
          <div class="acts">
            ${submit("Reject the plan", "stop")}<a href="${runPage(id)}">Back to the run</a>
          </div>`,
      ),
    ),
  };
}

export const reject: ActOf = async (request) => {
  const { api, params, form: sent, visitor } = request;
  const checking = checkingOf(params, sent);
  const comment = (sent.get("comment") ?? "").trim();
  if (comment === "") return rejectionPage(api, visitor, checking, "Say why.");
  const review = await reviewWithout(api, checking);
  return decided(request, checking, review, { decision: "reject", comment });
};
