import { html } from "../html.ts";
import { type Overview, OverviewBody, type WaitingRun } from "../../api/overview.ts";
import { type ListedRun, RunListBody } from "../../api/runs.ts";
import { runPage } from "../../contracts/console-pages.ts";
import { kindCalled } from "../../contracts/workflow-kinds.ts";
import { isPast, type Moment, spokenDeadline } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import { counted, waits } from "../../domain/counted.ts";
import { facts, foldedUp, live, note, section, pageTable } from "../elements.ts";
import { weekPicture } from "../pictures/week.ts";
import type { PageOf } from "../page.ts";
import type { Visitor } from "../visitor.ts";
import {
  badge,
  type Markup,
  phaseShown,
  stateOf,
  unbroken,
  usd,
  when,
  wholeNumber,
} from "../words.ts";
import { cancellationItem, cancellationsText } from "./waiting-cancellations.ts";
import { depositItem, sumOfDeposits } from "./waiting-deposits.ts";
import { releaseItem, releasesText } from "./waiting-releases.ts";

/**
 * Shows what there is to do today, what other people have to do, and the state of the week's money.
 */
export const today: PageOf = async ({ api, visitor }) => {
  const [overview, runs] = await Promise.all([
    api.get(OverviewBody, "/v1/overview"),
    api.get(RunListBody, "/v1/runs", { query: { pageSize: "15" } }),
  ]);
  const isShown = visitor.businesses.length > 1;
  const [mine, others] = byWhom(overview);
  const first = overview.waiting.length === 0 && runs.items.length === 0;
  return {
    title: "Today",
    lead: leadOf(overview, mine),
    main: html`
      ${first ? firstSteps() : ""}
      ${live(
        "waits",
        html`
          ${section("Waits for you", waitingList(mine, overview))} ${needsAction(overview)}
          ${countOf(others) === 0 ? "" : section("Waits for others", waitingList(others, overview))}
        `,
      )}
      ${live("week", weeks(overview, isShown))}
      ${live("runs", section("Runs", runTable(runs.items, visitor)))} ${COMMANDS}
    `,
  };
};

/** What waits, of every kind. */
type Waiting = Pick<Overview, "waiting" | "releases" | "deposits" | "cancellations">;

/** Separates what waits for the visitor from what waits for others. */
function byWhom({
  waiting,
  releases,
  deposits,
  cancellations,
}: Overview): readonly [Waiting, Waiting] {
  const part = (isMine: boolean) => ({
    waiting: waiting.filter(({ yours }) => yours.count > 0 === isMine),
    releases: releases.filter(({ yours }) => yours === isMine),
    deposits: deposits.filter(({ yours }) => yours === isMine),
    cancellations: cancellations.filter(({ yours }) => yours === isMine),
  });
  return [part(true), part(false)];
}

function countOf({ waiting, releases, deposits, cancellations }: Waiting): number {
  return waiting.length + releases.length + deposits.length + cancellations.length;
}

function leadOf({ businesses }: Overview, mine: Waiting): string {
  const { waiting, releases, deposits, cancellations } = mine;
  const cents = waiting.reduce((sum, { yours }) => sum + yours.cents, 0);
  const bills = waiting.reduce((sum, { yours }) => sum + yours.count, 0);
  const said = [
    ...(bills === 0 ? [] : [`${counted(bills, "bill")} of ${formatUsd(cents)}`]),
    ...(deposits.length === 0 ? [] : [sumOfDeposits(deposits)]),
  ];
  const approval =
    said.length === 0
      ? []
      : [`${said.join(" and ")} ${waits(bills + deposits.length)} for your approval.`];
  const yours = [...approval, releasesText(releases), cancellationsText(cancellations)];
  const told = yours.filter((text) => text !== "");
  if (told.length > 0) return told.join(" ");
  const incidents = businesses.reduce((sum, each) => sum + each.incidents, 0);
  if (incidents > 0) {
    return `${counted(incidents, "account")} bounced: one decision for all bills of ${incidents === 1 ? "it" : "each"}.`;
  }
  const parked = businesses.reduce((sum, each) => sum + each.parked.count, 0);
  return parked > 0
    ? `${counted(parked, "bill")} ${parked === 1 ? "needs" : "need"} a decision.`
    : "Nothing needs you now.";
}

function waitingList(waiting: Waiting, overview: Overview): Markup {
  const isShown = overview.businesses.length > 1;
  if (countOf(waiting) === 0) return html`<p class="quiet">No run waits for your approval.</p>`;
  return html`<ul class="list">
    ${waiting.waiting.map((run) => waitingItem(run, overview, isShown))}
    ${waiting.releases.map((release) => releaseItem(release, overview))}
    ${waiting.deposits.map((deposit) => depositItem(deposit, isShown))}
    ${waiting.cancellations.map((cancellation) => cancellationItem(cancellation, isShown))}
  </ul>`;
}

function waitingItem(run: WaitingRun, { businesses }: Overview, isShown: boolean): Markup {
  const isYours = run.yours.count > 0;
  const { count, cents } = isYours ? run.yours : run.waiting;
  const moment = businesses.find(({ business }) => business === run.business);
  const whose = isYours
    ? run.waiting.count === count
      ? allForYou(count)
      : others(run.waiting.count - count)
    : `for ${run.waitsFor.join(" or ")}`;
  return html`<li>
    <span class="what"
      ><a href="${runPage(run.id)}">${run.playbook} ${run.period}</a
      >${isShown ? ` (${run.business})` : ""}
      <span class="under"
        >${counted(count, "bill")}, ${whose}. Launched by ${run.launchedBy}.</span
      ></span
    >
    <span>${usd(cents)}<span class="under">${deadline(run.decideBy, moment)}</span></span>
  </li>`;
}

function allForYou(count: number): string {
  return count === 1 ? "it waits for you" : "all wait for you";
}

function others(count: number): string {
  return count === 1 ? "1 more waits for others" : `${wholeNumber(count)} more wait for others`;
}

function deadline(decideBy: string | null, moment: Moment | undefined): string {
  if (decideBy === null) return "no deadline";
  if (isPast(decideBy, moment)) return "the deadline has passed: dates change";
  return `decide by ${spokenDeadline(decideBy, moment)}`;
}

function needsAction({ businesses }: Overview): Markup | "" {
  const parked = businesses.reduce((sum, each) => sum + each.parked.count, 0);
  const cents = businesses.reduce((sum, each) => sum + each.parked.cents, 0);
  const incidents = businesses.reduce((sum, each) => sum + each.incidents, 0);
  if (parked === 0 && incidents === 0) return "";
  const said = [
    ...(incidents === 0 ? [] : [`${counted(incidents, "funding account")} bounced`]),
    ...(parked === 0
      ? []
      : [`${counted(parked, "bill")} of ${formatUsd(cents)} ${waits(parked)} for a decision`]),
  ];
  return note(
    "warn",
    html`<p>${said.join("; ")}. <a href="/needs-action">Decide</a></p>`,
    "Needs action",
  );
}

function weeks({ businesses }: Overview, isShown: boolean): Markup {
  return html`${businesses.map(({ business, days, now }) =>
    section(
      isShown ? `Money by day, ${business}` : "Money by day",
      weekPicture(days, now),
      `week-${business}`,
    ),
  )}`;
}

function runTable(runs: readonly ListedRun[], { businesses, zoneOf }: Visitor): Markup {
  if (runs.length === 0) return html`<p class="quiet">No run yet.</p>`;
  return pageTable(
    "The latest, newest first",
    [
      {
        title: "Run",
        isHead: true,
        cell: ({ business, ...run }: ListedRun) =>
          html`<a href="${runPage(run.id)}">${calledIn(run)}</a
            >${businesses.length > 1 ? html`<span class="under">${business}</span>` : ""}`,
      },
      {
        title: "State",
        isText: true,
        cell: ({ kind, phase, planOnly, outcome, waitingFor }) =>
          html`${badge(kind === "retry-failed-payment" ? stateOf("parked") : phaseShown(phase, planOnly))}${outcome === undefined ? "" : html`<span class="under">${outcome}</span>`}${waitingFor === null ? "" : html`<span class="under">${waitsText(kind, waitingFor)}</span>`}`,
      },
      { title: "Launched", cell: ({ launchedAt, business }) => when(launchedAt, zoneOf(business)) },
      { title: "Sum", isNumber: true, cell: ({ totalCents }) => usd(totalCents) },
    ],
    runs,
  );
}

/**
 * Names a run by its playbook and period, a failed payment by its bill, an onboarding as one of its
 * business.
 */
function calledIn({
  kind,
  playbook,
  period,
  contactName,
  publicId,
}: Pick<ListedRun, "kind" | "playbook" | "period" | "contactName" | "publicId">): Markup {
  if (kind === "retry-failed-payment" && contactName != null)
    return html`${contactName} ${unbroken(publicId ?? "")}`;
  const name = kind === "kyb-onboarding" ? null : playbook;
  return unbroken(`${name ?? kindCalled(kind)} ${period ?? ""}`);
}

/**
 * Says what a workflow waits for. A pay run lists its bills by state; others name whom they wait
 * for, followed by a command, which is removed.
 */
function waitsText(kind: ListedRun["kind"], waitingFor: string): string {
  if (kind === "pay-run") return waitingFor;
  const whom = waitingFor.replace(/: payrun .*$/, "").replace(/^a decision of /, "the ");
  return `waits for ${whom}`;
}

function firstSteps(): Markup {
  return section(
    "No run yet",
    html`<p>
        A playbook says which bills to pay, when, and with whose approval. An administrator stores
        one, and launches it:
      </p>
      <pre>
payrun validate rent.yaml
payrun launch rent.yaml</pre>`,
  );
}

/** What has no page yet. */
const COMMANDS = section(
  "On the command line",
  foldedUp(
    "Schedules, playbooks, onboarding and the trail have no page yet",
    facts([
      ["What runs by itself, and when next", html`<code>payrun schedule list</code>`],
      ["Playbooks, and who changed what", html`<code>payrun playbook list</code>`],
      ["Onboarding a business", html`<code>payrun launch kyb-onboarding.yaml</code>`],
      ["Whether the trail is intact", html`<code>payrun audit verify</code>`],
    ]),
  ),
);
