import { html } from "../html.ts";
import type { Overview } from "../../api/overview.ts";
import { waits } from "../../domain/counted.ts";
import { live } from "../elements.ts";
import type { Markup } from "../words.ts";
import { cancellationSection, cancellationsText } from "./waiting-cancellations.ts";
import { depositSection, sumOfDeposits } from "./waiting-deposits.ts";
import { releaseSection, releasesText } from "./waiting-releases.ts";

/** Says what waits for any person, besides accounts that bounced, runs and parked bills. */
export function waitingTexts({ deposits, releases, cancellations }: Overview): string[] {
  return [
    deposits.length === 0
      ? ""
      : `${sumOfDeposits(deposits)} ${waits(deposits.length)} for approval.`,
    releasesText(releases),
    cancellationsText(cancellations),
  ].filter((text) => text !== "");
}

/** Shows each of these with the link to decide about it. */
export function waitingSections(overview: Overview): Markup {
  const { deposits, releases, cancellations } = overview;
  return html`${live("deposits", deposits.map(depositSection))}
  ${live(
    "releases",
    releases.map((each) => releaseSection(each, overview)),
  )}
  ${live("cancellations", cancellations.map(cancellationSection))}`;
}
