import { html } from "../html.ts";
import { allGoesOut } from "../../api/goes-out.ts";
import {
  type GoesOut,
  type HoldView,
  HoldBody,
  type Release,
  ReleaseBody,
} from "../../api/holds.ts";
import { billPage } from "../../contracts/console-pages.ts";
import { notSentText } from "../../domain/approvals/share-texts.ts";
import { counted } from "../../domain/counted.ts";
import { afterLossText, askedAgainText, goOut } from "../../domain/goes-out.ts";
import { ENDED_BY_PERSON } from "../../domain/holds.ts";
import { formatUsd } from "../../domain/money.ts";
import { type Api, each } from "../api.ts";
import { foldedUp, form, hidden, movedOn, note, outcomes, section, submit } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import { type Markup, usd, wholeNumber } from "../words.ts";
import { holdTable, targetOf } from "./holds.ts";

/** Shows what a release would let go out before it is done: bills may go out within seconds. */
export const checkRelease: PageOf = async (request) => {
  const ids = [...new Set(request.query.getAll("id"))];
  if (ids.length === 0) throw new Refused(422, "nothing_ticked", "Tick the holds to release.");
  return releasePage(request, ids, await lookedAt(request.api, ids));
};

function lookedAt(api: Api, ids: readonly string[]): Promise<Release> {
  return api.get(ReleaseBody, "/v1/releases", { query: { holds: ids.join(",") } });
}

/** Sums up what goes out, in the form's own text. */
function sumOf({ goesOut }: Release): string {
  return `${goesOut.bills} ${goesOut.totalCents}`;
}

function releasePage(
  { visitor }: PageRequest,
  ids: readonly string[],
  looked: Release,
  stale?: string,
): PageContent {
  const { released, kept, goesOut } = looked;
  const count = released.length;
  return {
    title: count === 1 ? "Release a hold" : `Release ${wholeNumber(count)} holds`,
    status: stale === undefined ? 200 : 409,
    main: section(
      "These are released",
      html`${stale === undefined ? "" : note("stop", html`<p>${stale}</p>`)}${movedOn(ids.length, count + kept.length, "a person has released it, or it has ended")}
      ${count === 0 ? "" : html`${goesOutOf([goesOut], "then")}${holdTable(released, visitor)}`}
      ${released.map(endedNote)} ${keptList(kept)}
      ${
        count === 0
          ? html`<p><a href="/holds">Back</a></p>`
          : form(
              visitor,
              "/holds/release",
              html`${released.map(({ id }) => hidden("id", id))}${hidden("goesOut", sumOf(looked))}
                <div class="acts">
                  ${submit(count === 1 ? "Release it" : "Release them")}<a href="/holds">Back</a>
                </div>`,
            )
      }`,
    ),
  };
}

export const release: ActOf = async (request) => {
  const { api, form: sent } = request;
  const ids = [...new Set(sent.getAll("id"))];
  const now = await lookedAt(api, ids).catch(ifNone);
  // More may go out than the person saw: another hold was lifted meanwhile, or a bill was approved.
  if (now !== undefined && now.goesOut.bills > 0 && sumOf(now) !== sent.get("goesOut")) {
    const why = "What goes out then has changed. Nothing was released: look at it again.";
    return releasePage(request, ids, now, why);
  }
  const inForce = [...(now?.released ?? []), ...(now?.kept ?? []).map(({ hold }) => hold)];
  const known = new Map(inForce.map((hold) => [hold.id, hold]));
  const freed: GoesOut[] = [];
  const results = await each(ids, async (id) => {
    const { goesOut } = await api.delete(HoldBody, "/v1/holds/{id}", { params: { id } });
    if (goesOut !== undefined) freed.push(goesOut);
  });
  return {
    title: results.every(({ done }) => done) ? "Released" : "Not all were released",
    main: html`${outcomes(
        results,
        (id) => {
          const hold = known.get(id);
          return hold === undefined ? id : targetOf(hold);
        },
        "released",
      )}
      ${goesOutOf(freed, "now")}
      <p><a href="/holds">Holds</a> · <a href="/">Today</a></p>`,
  };
};

/** Ignores that none of the holds is in force any more: then each gets its own result. */
function ifNone(error: unknown): undefined {
  if (!(error instanceof Refused) || error.code !== "no_such_hold") throw error;
}

/**
 * Warns about a bill that was paid elsewhere or given up: it must not be paid, but the next run
 * doesn't know that.
 */
function endedNote({ ended, number, value }: HoldView): Markup | "" {
  if (ended === undefined) return "";
  return note(
    "warn",
    html`<p>
      ${number ?? value}: ${ENDED_BY_PERSON[ended]}. Without the hold the next run may pay it.
    </p>`,
  );
}

/** Lists approved bills that nothing holds up any more. */
function goesOutOf(of: readonly GoesOut[], at: "now" | "then"): Markup {
  const { bills, totalCents: cents, items, asksAgain, notSent = [], ...sends } = allGoesOut(of);
  const why = afterLossText(sends);
  const asked =
    asksAgain === undefined
      ? ""
      : note("info", html`<p>${askedAgainText(asksAgain)}${bills === 0 ? ` ${why}` : ""}</p>`);
  const others =
    notSent.length === 0
      ? ""
      : note("warn", html`${notSent.map((each) => html`<p>${notSentText(each)}</p>`)}`);
  if (bills === 0 && asked !== "") return html`${asked}${others}`;
  if (bills === 0)
    return html`${note("info", html`<p>No approved bill waits for it alone: nothing goes out.</p>`)}${others}`;
  const go = goOut({ bills, ...sends }, at);
  return html`${asked}${others}${note("warn", html`<p>${counted(bills, "bill")} of ${formatUsd(cents)} ${go}: approved, and no other hold applies. ${why}</p>`)}
  ${foldedUp(
    "Which",
    html`<ul>
      ${items.map(({ payableId, publicId, contactName, amountCents }) => html`<li><a href="${billPage(payableId)}">${contactName ?? payableId}</a>, ${publicId ?? payableId}, ${usd(amountCents)}</li>`)}
      ${bills > items.length ? html`<li>and ${wholeNumber(bills - items.length)} more</li>` : ""}
    </ul>`,
  )}`;
}

const ofWhom = (said: URLSearchParams) => (said.get("by") ?? "").trim();

/**
 * Shows the holds of one person, including those set by the cancels that this person requested, and
 * what goes out without them.
 */
export const checkReleaseAll: PageOf = (request) => releaseAllPage(request, ofWhom(request.query));

async function releaseAllPage(
  { api, visitor }: PageRequest,
  by: string,
  stale?: string,
): Promise<PageContent> {
  const { released, kept, goesOut, hash } = await api.get(ReleaseBody, "/v1/releases", {
    query: { by },
  });
  return {
    title: `Release all that ${by} has set`,
    status: stale === undefined ? 200 : 409,
    main: section(
      `${counted(released.length, "hold")}`,
      html`${stale === undefined ? "" : note("stop", html`<p>${stale}</p>`)}${goesOutOf([goesOut], "then")}
      ${released.length === 0 ? "" : holdTable(released, visitor)} ${keptList(kept)}
      ${
        released.length === 0
          ? html`<p><a href="/holds">Back</a></p>`
          : form(
              visitor,
              "/holds/release-all",
              html`${hidden("by", by)}${hidden("hash", hash)}
                <div class="acts">${submit("Release them all")}<a href="/holds">Back</a></div>`,
            )
      }`,
      "release-all",
    ),
  };
}

/** Lists the holds that stay, and why. */
function keptList(kept: Release["kept"]): Markup | "" {
  if (kept.length === 0) return "";
  return html`<p><strong>These stay</strong></p>
    <ul>
      ${kept.map(({ hold, roles, ended }) => html`<li>${targetOf(hold)} ${ended === undefined ? `only ${roles.join(" or ")} may lift it` : `${ENDED_BY_PERSON[ended]}: lift it by itself`}</li>`)}
    </ul>`;
}

export const releaseAll: ActOf = async (request) => {
  const { api, form: sent } = request;
  const by = ofWhom(sent);
  const body = { by, hash: sent.get("hash") ?? "" };
  let done: Release;
  try {
    done = await api.post(ReleaseBody, "/v1/releases", { body });
  } catch (error) {
    if (!(error instanceof Refused) || error.code !== "stale_holds") throw error;
    return releaseAllPage(request, by, error.message);
  }
  const { released, kept, goesOut } = done;
  return {
    title: "Released",
    main: html`${note("good", html`<p>${counted(released.length, "hold")} released.</p>`)}
      ${goesOutOf([goesOut], "now")}
      <ul>
        ${released.map((hold) => html`<li>${targetOf(hold)}</li>`)}
      </ul>
      ${keptList(kept)}
      <p><a href="/holds">Holds</a> · <a href="/">Today</a></p>`,
  };
};
