import { html } from "../html.ts";
import type { Overview, WaitingRelease } from "../../api/overview.ts";
import { releasePage, runPage } from "../../contracts/console-pages.ts";
import { isPast, spokenDeadline } from "../../domain/clock/spoken.ts";
import { counted, waits } from "../../domain/counted.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { section } from "../elements.ts";
import { type Markup, runLink, usd } from "../words.ts";

/** `2 bills of $9,120.00 wait to be released.`; empty if there are none. */
export function releasesText(releases: readonly WaitingRelease[]): string {
  const bills = releases.reduce((sum, { bills: of }) => sum + of.count, 0);
  if (bills === 0) return "";
  const cents = sumCents(releases.map(({ bills: of }) => of.cents));
  return `${counted(bills, "bill")} of ${formatUsd(cents)} ${waits(bills)} to be released.`;
}

/** An address carries no more; the cancellation's page releases the rest in parts. */
const HOLDS_IN_ADDRESS = 100;

/** Returns the page on which the visitor releases the bills, or sees which they are. */
function pageOf({ id, holds, yours }: WaitingRelease): string {
  return yours && holds.length <= HOLDS_IN_ADDRESS ? releasePage(holds) : runPage(id);
}

/**
 * Builds the entry of bills that are held back, for the list of what waits for a person, with a
 * link to release them.
 */
export function releaseItem(release: WaitingRelease, overview: Overview): Markup {
  const { playbook, business, runId, bills, releasedBy, yours } = release;
  const isShown = overview.businesses.length > 1;
  return html`<li>
    <span class="what"
      ><a href="${pageOf(release)}">Held back by ${playbook}</a>${isShown ? ` (${business})` : ""}
      <span class="under"
        >${counted(bills.count, "bill")} of ${runLink(runId)},
        ${yours ? "for you to release" : `for ${releasedBy.join(" or ")} to release`}.</span
      ></span
    >
    <span>${usd(bills.cents)}<span class="under">${deadlineOf(release, overview)}</span></span>
  </li>`;
}

/** Builds their section, for the page of what needs action. */
export function releaseSection(release: WaitingRelease, overview: Overview): Markup {
  const { id, playbook, runId, bills, releasedBy, yours } = release;
  return section(
    `${counted(bills.count, "bill")} held back by ${playbook}`,
    html`<p>
        ${formatUsd(bills.cents)} of ${runLink(runId)}: ${deadlineOf(release, overview)}. It takes
        the role ${releasedBy.join(" or ")} to release ${bills.count === 1 ? "it" : "them"}.
        <a href="${runPage(id)}">Which</a>
      </p>
      ${yours ? html`<div class="acts"><a class="button" href="${pageOf(release)}">Release</a></div>` : ""}`,
    `release-${id.replaceAll(/[^\w]+/g, "-")}`,
  );
}

/** Says until when a bill must be released to be paid on its date. */
function deadlineOf({ business, releaseBy }: WaitingRelease, { businesses }: Overview): string {
  if (releaseBy === null) return "not paid before that";
  const moment = businesses.find((each) => each.business === business);
  if (isPast(releaseBy, moment)) return "its time has passed: not paid until a person releases it";
  return `by ${spokenDeadline(releaseBy, moment)}, or it isn’t paid on its date`;
}
