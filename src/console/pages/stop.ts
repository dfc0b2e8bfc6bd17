import { html } from "../html.ts";
import {
  type HeldSums,
  type Stop,
  StopBody,
  type StopPreview,
  StopPreviewBody,
} from "../../api/holds.ts";
import { type NamedView, SearchBody } from "../../api/names.ts";
import { runPage, type StopNamed, stopPage } from "../../contracts/console-pages.ts";
import { counted } from "../../domain/counted.ts";
import { formatUsd } from "../../domain/money.ts";
import { each } from "../api.ts";
import { facts, field, form, hidden, note, outcomes, section, submit } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { accountName } from "../../domain/names.ts";
import { type Markup, usd, when } from "../words.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";

/** What a stop may apply to besides everything: the word for people, and the API's field. */
const PARTS = [
  { kind: "run", field: "run", word: "A run", example: "weekly/2026-11-26" },
  { kind: "vendor", field: "contactId", word: "A vendor", example: "Osprey Robotics" },
  { kind: "account", field: "source", word: "An account", example: "its name or last four" },
] as const;

type Visitor = PageRequest["visitor"];

/** Builds the form that stops everything of these businesses. */
export function stopEverything(
  visitor: Visitor,
  businesses: readonly string[],
  problem?: string,
): Markup {
  return form(
    visitor,
    "/emergency/stop",
    html`<p>
        Nothing new is
        sent${visitor.businesses.length > 1 ? html` for ${businesses.join(", ")}` : ""} from that
        moment on, by any run, retry or deposit. Runs, approvals and what was sent already go on
        being followed.
      </p>
      ${businesses.map((business) => hidden("business", business))} ${why(problem)}
      <div class="acts">${submit("Stop everything", "stop")}</div>`,
  );
}

function why(problem?: string): Markup {
  return html`${field({ name: "reason", label: "Why", problem, hint: "Everybody who looks sees it." })}
    <label class="choice"
      ><input type="checkbox" name="cancel" value="yes" /><span
        ><strong>Call back as well</strong>Cancels what the service has already, as far as it still
        can</span
      ></label
    >`;
}

/** Asks which part to stop. */
export function stopPart(): Markup {
  return html`<form action="/emergency/stop">
    <fieldset>
      <legend>What is stopped</legend>
      ${PARTS.map(
        ({ kind, word, example }) =>
          html`<label class="choice"
            ><input type="radio" name="kind" value="${kind}" required /><span
              ><strong>${word}</strong>${example}</span
            ></label
          >`,
      )}
    </fieldset>
    ${field({ name: "q", label: "Which", hint: "As you would search for it." })}
    <div class="acts"><button class="quiet">See what that would stop</button></div>
  </form>`;
}

/** Shows what a stop of a part would do, before anything is stopped. */
export const checkStop: PageOf = async (request) => {
  const { query } = request;
  const named = namedIn(query);
  if (named !== undefined) return partPage(request, named);
  const kind = PARTS.find((part) => part.kind === query.get("kind"));
  const text = (query.get("q") ?? "").trim();
  if (kind === undefined || text === "") return { goTo: "/emergency" };
  const asked = { q: text, kind: kind.kind };
  const { exact, near, unread } = await request.api.get(SearchBody, "/v1/search", { query: asked });
  const pageFor = ({ id, business }: NamedView) => stopPage({ [kind.field]: id, business });
  const [only, other] = exact;
  if (only !== undefined && other === undefined) return { goTo: pageFor(only) };
  const found = [...exact, ...near];
  return {
    title: "Which one?",
    lead: exact.length === 0 ? `No ${kind.kind} is called “${text}”.` : `“${text}” may be several.`,
    main: html`${unread.map(({ business }) => note("warn", html`<p>The service of ${business} can’t be asked now, so there may be more.</p>`))}
    ${section(
      found.length === 0 ? "Nothing found" : "What it may be",
      html`${found.length === 0 ? html`<p>Try another part of the name, or a number.</p>` : candidates(found, pageFor)}
        <div class="acts"><a class="button quiet" href="/emergency">Back</a></div>`,
    )}`,
  };
};

function candidates(found: readonly NamedView[], pageFor: (named: NamedView) => string): Markup {
  return html`<ul class="list">
    ${found.map((named) => html`<li><a href="${pageFor(named)}">${named.name ?? named.number ?? named.id}</a><span class="quiet">${named.name === null ? "" : (named.number ?? "")} ${named.business}</span></li>`)}
  </ul>`;
}

/** Returns the part that an address or a form names; undefined if it names none. */
function namedIn(said: URLSearchParams): StopNamed | undefined {
  for (const { field: name } of PARTS) {
    const value = said.get(name);
    if (value !== null) return { [name]: value, business: said.get("business") ?? "" };
  }
  return undefined;
}

const asFields = (named: StopNamed): Record<string, string> => {
  const { business, ...target } = named;
  return { ...target, ...(business === "" ? {} : { business }) };
};

async function partPage(
  { api, visitor }: PageRequest,
  named: StopNamed,
  problem?: string,
): Promise<PageContent> {
  const fields = asFields(named);
  const preview = await api.get(StopPreviewBody, "/v1/stops", { query: fields });
  const called = calledSo(preview);
  return {
    title: `Stop ${called}`,
    lead: "Nothing is stopped before you say why.",
    status: problem === undefined ? 200 : 422,
    main: section(
      "What that comes to",
      html`${sums(preview.holds, visitor.zoneOf(preview.business))}
      ${form(
        visitor,
        "/emergency/stop",
        html`${Object.entries(fields).map(([name, value]) => hidden(name, value))} ${why(problem)}
          <div class="acts">${submit(`Stop ${called}`, "stop")}<a href="/emergency">Back</a></div>`,
      )}`,
    ),
  };
}

function calledSo(of: Pick<StopPreview, "scope" | "value" | "number" | "name">): string {
  if (of.scope === "all") return "everything";
  if (of.scope === "run") return shortName(of.value);
  return of.scope === "source" ? accountName(of.value, of) : (of.name ?? of.value);
}

/** Shows what a hold is on, and which of the rest can still be cancelled. */
export function sums(
  { waiting, recallable, underWay, gone, paid, paidByOthers, othersUnread }: HeldSums,
  zone: string,
): Markup {
  const sum = ({ bills, totalCents }: HeldSums["gone"], more: unknown = "") =>
    html`${usd(totalCents)}<span class="sub">${counted(bills, "bill")}${more}</span>`;
  const { earliestCutOff: until } = recallable;
  return facts([
    ["On hold", sum(waiting)],
    [
      "Can be called back",
      sum(recallable, until === null ? "" : html`, the first until ${when(until, zone)}`),
    ],
    ["Being sent", sum(underWay)],
    ["Can’t be called back", sum(gone, ", with the bank or in several payments")],
    ...(paid.bills === 0 ? [] : [["Paid already", sum(paid)] as const]),
    ...(paidByOthers === undefined
      ? []
      : [["Paid outside Payrun, or about to be", sum(paidByOthers)] as const]),
    ...(othersUnread === true ? [["Made outside Payrun", "not counted"] as const] : []),
  ]);
}

/**
 * Stops everything of each business, or the part that is named. If one is refused, the rest are
 * stopped all the same.
 */
export const stopAct: ActOf = async (request) => {
  const { api, visitor, form: sent } = request;
  const reason = (sent.get("reason") ?? "").trim();
  const part = namedIn(sent);
  const all = [...new Set(sent.getAll("business"))];
  if (reason === "") {
    const problem = "Give a reason. People see it wherever the hold is shown.";
    return part === undefined
      ? {
          title: "Stop everything",
          status: 422,
          main: section("Why?", stopEverything(visitor, all, problem)),
        }
      : partPage(request, part, problem);
  }
  const cancelScheduled = sent.get("cancel") === "yes";
  const named = part === undefined ? all.map((business) => ({ business })) : [part];
  const stopped = new Map<string, Stop>();
  const results = await each(
    named.map(({ business }) => business),
    async (business) => {
      const target = named.find((of) => of.business === business) ?? { business };
      const of = part === undefined ? { ...asFields(target), all: true } : asFields(target);
      const body = { ...of, reason, cancelScheduled };
      stopped.set(business, await api.post(StopBody, "/v1/stops", { body }));
    },
  );
  const isAll = results.every(({ done }) => done);
  const [first] = stopped.values();
  const called = first === undefined ? "everything" : calledSo(first.hold);
  const what = `${called.charAt(0).toUpperCase()}${called.slice(1)}`;
  return {
    title: isAll ? `${what} is stopped` : "Not everything is stopped",
    status: isAll ? 200 : 409,
    main: html`${isAll ? note("good", html`<p>Nothing new of it is sent from now on.</p>`) : outcomes(results, (business) => business, "stopped")}
      ${[...stopped].map(([business, one]) => stoppedOne(one, visitor.zoneOf(business), visitor.businesses.length > 1))}
      <p>
        <a href="/emergency">Emergency</a> · <a href="/holds">Holds</a> · <a href="/">Today</a>
      </p>`,
  };
};

function stoppedOne({ hold, holds, cancellation }: Stop, zone: string, isNamed: boolean): Markup {
  const { bills, totalCents } = holds.recallable;
  const rest =
    cancellation !== null
      ? note(
          "info",
          html`<p>
            What the service has already is being called back:
            <a href="${runPage(cancellation.id)}">follow it</a>.
          </p>`,
        )
      : bills === 0
        ? html`<p>The service has nothing of it that could still be called back.</p>`
        : note(
            "warn",
            html`<p>
              ${counted(bills, "bill")} of ${formatUsd(totalCents)} ${bills === 1 ? "is" : "are"}
              scheduled at the service, which a hold doesn’t stop.
              <a href="/emergency#call-back">Call ${bills === 1 ? "it" : "them"} back</a>
            </p>`,
          );
  return section(
    isNamed ? hold.business : "What that comes to",
    html`${sums(holds, zone)}${rest}`,
    `stopped-${hold.id}`,
  );
}
