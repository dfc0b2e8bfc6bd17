import { html } from "../html.ts";
import { IncidentBody, type IncidentView, IncidentListBody } from "../../api/incidents.ts";
import { spokenDate } from "../../domain/clock/spoken.ts";
import { counted, waits } from "../../domain/counted.ts";
import { askedAgainText, goOut } from "../../domain/goes-out.ts";
import { formatUsd } from "../../domain/money.ts";
import { paidAgainTexts } from "../../domain/retries/freed-texts.ts";
import { choices, field, form, hidden, note, section, submit } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { runPage, stopPage } from "../../contracts/console-pages.ts";
import { type Markup, when } from "../words.ts";
import { Refused } from "../refused.ts";
import { signInAgain } from "./decision.ts";
import { hasRole } from "../../domain/approvals/token.ts";

/** Returns the page for the decision about an account that bounced. */
export function incidentPage({
  source,
  business,
}: Pick<IncidentView, "source" | "business">): string {
  return `/incidents/${encodeURIComponent(source)}?business=${encodeURIComponent(business)}`;
}

export function bouncedTitle({ account }: IncidentView): string {
  return `Payments from ${account} bounced`;
}

const CHOICES = [
  [
    "released",
    "The money is there",
    "The account’s hold is lifted, and every bill that waits is paid again from it, within Nacha’s limits, unless another hold applies to it.",
  ],
  [
    "other-source",
    "Pay from another account",
    "The bills go back to the next run, which asks for a new approval. This account stays on hold until a person releases it: the next run pays them only from the account that its playbook names then, so change pay: from there first (payrun apply).",
  ],
] as const;

async function incidentOf({ api, params, query }: PageRequest): Promise<IncidentView> {
  const business = query.get("business");
  const { items } = await api.get(IncidentListBody, "/v1/incidents", {
    query: business === null ? {} : { business },
  });
  const found = items.find(({ source }) => source === params["source"]);
  if (found === undefined)
    throw new Refused(404, "not_found", "No payment from this account has bounced.");
  return found;
}

/** Shows the one decision about an account, and the consequence of each choice. */
export const incident: PageOf = async (request) => {
  const found = await incidentOf(request);
  const kept = await request.visitor.keptForm(addressOf(found).pathname);
  const deposit = proposedIn(found);
  const isSame = kept?.get("topUpHash") === deposit?.hash;
  return incidentDecision(request, found, { said: isSame ? kept : undefined });
};

/**
 * Returns true if a decision of this visitor would count. The deposit's approvers may decide too.
 */
export function decidesAccount(found: IncidentView, visitor: PageRequest["visitor"]): boolean {
  const deciders = [...found.roles, "admin", ...(proposedIn(found)?.approvers ?? [])];
  return hasRole(visitor, deciders);
}

/** Returns the deposit that the incident asks for now. */
function proposedIn({ topUps }: IncidentView) {
  return topUps.findLast(({ state }) => state === "proposed");
}

/** Sums up the bills that wait for the decision, in the form's own text. */
function sumOf({ bills, billsCents }: IncidentView): string {
  return `${bills} ${billsCents}`;
}

interface Filled {
  readonly said?: URLSearchParams | undefined;
  /** What has changed since the page was shown. */
  readonly stale?: string;
  readonly problems?: { readonly decision?: string; readonly reason?: string };
}

function incidentDecision(
  { visitor }: PageRequest,
  found: IncidentView,
  { said, stale, problems = {} }: Filled,
): PageContent {
  const { bills, billsCents, reason, phase, decision, decidedBy } = found;
  const deposit = proposedIn(found);
  const of = [
    ...CHOICES,
    ...(deposit === undefined
      ? []
      : [
          [
            "top-up",
            `Deposit ${formatUsd(deposit.amountCents)} into the balance`,
            `Approves the deposit, which must be made by ${spokenDate(deposit.makeBy)}; the hold is lifted once its money is there.`,
          ] as const,
        ]),
  ];
  const form_ = form(
    visitor,
    incidentPage(found),
    html`${deposit === undefined ? "" : hidden("topUpHash", deposit.hash)}${hidden("bills", sumOf(found))}
      ${choices({ legend: "What is to be done", name: "decision", of, chosen: said?.get("decision") ?? null, problem: problems.decision })}
      ${field({ name: "reason", label: "Why", value: said?.get("reason") ?? "", problem: problems.reason, hint: "Kept in the trail, and shown to others." })}
      <div class="acts">${submit("Decide")}<a href="/needs-action">Back</a></div>`,
  );
  return {
    title: bouncedTitle(found),
    lead:
      bills === 0
        ? "No bill waits for it"
        : `${counted(bills, "bill")} of ${formatUsd(billsCents)} ${waits(bills)} for it`,
    status: stale !== undefined ? 409 : Object.keys(problems).length === 0 ? 200 : 422,
    main: section(
      phase !== "open"
        ? "Decided"
        : bills > 1
          ? "One decision for all of them"
          : bills === 1
            ? "Your decision about it"
            : "Your decision about the account",
      html`${stale === undefined ? "" : note("stop", html`<p>${stale}</p>`)}${note("warn", html`<p>The first: ${reason}</p>`)}${stillScheduled(found, visitor)}${phase === "open" ? (decidesAccount(found, visitor) ? form_ : html`<p>It takes the role ${found.roles.join(" or ")}.</p>`) : html`<p>“${decidedText(decision)}”, said ${decidedBy ?? "a person"}.</p>`}`,
    ),
  };
}

/** Says what the service has scheduled from the account: its hold doesn't call that back. */
function stillScheduled(
  { scheduled, business, source }: IncidentView,
  { zoneOf }: PageRequest["visitor"],
): Markup | "" {
  if (scheduled === undefined || scheduled.bills === 0) return "";
  const { bills, totalCents, cancelBy, calledBackBy } = scheduled;
  const until =
    cancelBy === null
      ? ""
      : html`; the first can be cancelled until ${when(cancelBy, zoneOf(business))}`;
  return html`<p>
    The service has ${counted(bills, "bill")} of ${formatUsd(totalCents)} scheduled from it${until}.
    ${calledBackBy === undefined ? html`<a href="${stopPage({ source, business })}">Call back</a>` : html`Payrun <a href="${runPage(calledBackBy)}">calls them back by itself</a>.`}
  </p>`;
}

/** Says what follows from a decision that was just made. */
function effectOf({ decision, freed, bills, billsCents }: IncidentView): string {
  if (decision === "top-up") return "The deposit is approved.";
  if (freed !== undefined) {
    const { goesOut } = freed;
    const others = `${counted(goesOut.bills, "other bill")} of ${formatUsd(goesOut.totalCents)} ${goOut(goesOut, "now")}.`;
    return [
      "The account’s hold is lifted.",
      ...paidAgainTexts(bills, freed),
      ...(goesOut.bills === 0 ? [] : [others]),
      ...(goesOut.asksAgain === undefined ? [] : [askedAgainText(goesOut.asksAgain)]),
    ].join(" ");
  }
  const which = bills === 0 ? "" : `${counted(bills, "bill")} of ${formatUsd(billsCents)}: `;
  return `${which}${CHOICES.find(([value]) => value === decision)?.[2] ?? ""}`;
}

function decidedText(decision: IncidentView["decision"]): string {
  if (decision === "top-up") return "A deposit into the balance";
  return CHOICES.find(([value]) => value === decision)?.[1] ?? CHOICES[0][1];
}

const addressOf = (found: IncidentView) => new URL(incidentPage(found), "http://localhost");

export const decideIncidentAct: ActOf = async (request) => {
  const { api, params, query, form: sent } = request;
  const reason = (sent.get("reason") ?? "").trim();
  const topUpHash = sent.get("topUpHash");
  const decision = sent.get("decision") ?? "";
  const problems = {
    ...(decision === "" ? { decision: "Choose what is to be done." } : {}),
    ...(reason === "" ? { reason: "Say why." } : {}),
  };
  if (Object.keys(problems).length > 0) {
    return incidentDecision(request, await incidentOf(request), { said: sent, problems });
  }
  const now = await incidentOf(request);
  // A release pays every bill that waits, and there may now be more of them than the person saw.
  if (decision === "released" && now.phase === "open" && sumOf(now) !== sent.get("bills")) {
    const stale = "What waits for it has changed. Nothing was decided: look at it again.";
    return incidentDecision(request, now, { said: sent, stale });
  }
  const business = query.get("business");
  let decided: IncidentView;
  try {
    decided = await api.post(IncidentBody, "/v1/incidents/{source}/decision", {
      params: { source: params["source"] ?? "" },
      query: business === null ? {} : { business },
      body: {
        decision,
        reason,
        ...(decision === "top-up" && topUpHash !== null ? { topUpHash } : {}),
      },
    });
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "sign_in_too_old") throw error;
    const page = addressOf(now);
    await request.visitor.keepForm(page.pathname, sent);
    return signInAgain(`${page.pathname}${page.search}`, error.message);
  }
  return {
    title: "Decided",
    main: html`${note("good", html`<p>${effectOf(decided)}</p>`, "Your decision counts")}
      <p><a href="/needs-action">What else needs action</a> · <a href="/">Today</a></p>`,
  };
};
