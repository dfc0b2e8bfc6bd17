import { html } from "hono/html";
import { type Hold, HoldBody, HoldListBody } from "../../api/holds.ts";
import { billPage, runPage, vendorPage } from "../../contracts/console-pages.ts";
import { type Api, each } from "../api.ts";
import {
  field,
  form,
  hidden,
  live,
  note,
  outcomes,
  pager,
  section,
  submit,
  table,
  tick,
} from "../elements.ts";
import { pageNumberOf, type ActOf, type PageOf } from "../page.ts";
import { Refused } from "../refused.ts";
import { type Markup, when, who, whole } from "../words.ts";
import { holdSaid, UNTIL } from "./bill-acts.ts";

const HOLDS_A_PAGE = 50;

/** All that must not be paid now, and who said so. */
export const holds: PageOf = async ({ api, query }) => {
  const page = pageNumberOf(query);
  const asked = { page: String(page), pageSize: String(HOLDS_A_PAGE) };
  const { items, totalCount } = await api.get(HoldListBody, "/v1/holds", { query: asked });
  const list =
    items.length === 0
      ? html`<p class="quiet">Nothing is on hold.</p>`
      : html`<form action="/holds/release">
            ${holdTable(items, true)}
            <div class="acts"><button>Release what is ticked</button></div>
          </form>
          ${pager({ page, pageSize: HOLDS_A_PAGE, totalCount }, (to) => `/holds?page=${to}`)}`;
  return {
    title: "Holds",
    lead: "A hold keeps what it names from being paid, until it ends or somebody releases it.",
    main: html`${section(`In force (${whole(totalCount)})`, list, "in-force")}
    ${section(
      "Set one",
      html`<p>
          Bills, vendors and runs are held from their own pages: search for them. An account, a
          playbook or everything:
        </p>
        <div class="acts">
          <a class="button quiet" href="/holds/new?on=source">An account</a
          ><a class="button quiet" href="/holds/new?on=playbook">A playbook</a
          ><a class="button stop" href="/emergency">Everything</a>
        </div>`,
    )}`,
  };
};

function holdTable(items: readonly Hold[], isTicked: boolean): Markup {
  return table(
    "Newest first",
    [
      { title: "On", isHead: true, cell: (hold: Hold) => targetOf(hold) },
      {
        title: "Why",
        cell: ({ reason, roles }) =>
          html`${reason}${roles.length === 0 ? "" : html`<span class="under">released by ${roles.join(" or ")} only</span>`}`,
      },
      {
        title: "Set by",
        cell: ({ author, createdAt }) =>
          html`${who(author)}<span class="under">${when(createdAt)}</span>`,
      },
      { title: "Until", cell: ({ until }) => (until === null ? "released" : when(until)) },
      ...(isTicked
        ? [
            {
              title: "Release",
              cell: (hold: Hold) =>
                tick(
                  { name: "id", value: hold.id },
                  `Release the hold on ${hold.scope} ${hold.value}`,
                ),
            },
          ]
        : []),
    ],
    items,
  );
}

/** What a hold is on, with a way there. */
function targetOf({
  scope,
  value,
  business,
}: Pick<Hold, "scope" | "value" | "business">): Markup | string {
  switch (scope) {
    case "payable":
      return html`Bill <a href="${billPage(value, business)}">${value}</a>`;
    case "contact":
      return html`Vendor <a href="${vendorPage(value, business)}">${value}</a>`;
    case "run":
      return html`Run <a href="${runPage(value)}">${value}</a>`;
    case "source":
      return `Account ${value}`;
    case "playbook":
      return `Playbook ${value}`;
    case "all":
      return "Everything";
  }
}

/** Those of these ids that are in force, in the list's order. */
async function holdsNamed(api: Api, ids: readonly string[]): Promise<Hold[]> {
  const found: Hold[] = [];
  for (let page: number | null = 1; page !== null && found.length < ids.length;) {
    const { items, nextPage }: Awaited<ReturnType<typeof readPage>> = await readPage(api, page);
    found.push(...items.filter(({ id }) => ids.includes(id)));
    page = nextPage;
  }
  return found;
}

function readPage(api: Api, page: number) {
  return api.get(HoldListBody, "/v1/holds", { query: { page: String(page) } });
}

/** What would be set free, before it is: bills may go out within seconds. */
export const checkRelease: PageOf = async ({ api, query, visitor }) => {
  const ids = [...new Set(query.getAll("id"))];
  if (ids.length === 0) throw new Refused(422, "nothing_ticked", "Tick the holds to release.");
  const found = await holdsNamed(api, ids);
  if (found.length === 0) {
    throw new Refused(404, "not_found", "None of these holds is in force any more.");
  }
  return {
    title: found.length === 1 ? "Release a hold" : `Release ${whole(found.length)} holds`,
    main: section(
      "These are released",
      html`${note("warn", html`<p>What they keep back goes out as soon as its runs look, which is within seconds, if it is approved and nothing else holds it.</p>`)}
      ${holdTable(found, false)}
      ${form(
        visitor,
        "/holds/release",
        html`${found.map(({ id }) => hidden("id", id))}
          <div class="acts">
            ${submit(found.length === 1 ? "Release it" : "Release them")}<a href="/holds">Back</a>
          </div>`,
      )}`,
    ),
  };
};

export const release: ActOf = async ({ api, form: sent }) => {
  const ids = [...new Set(sent.getAll("id"))];
  const known = new Map((await holdsNamed(api, ids)).map((hold) => [hold.id, hold]));
  const results = await each(ids, (id) =>
    api.delete(HoldBody, "/v1/holds/{id}", { params: { id } }),
  );
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
      <p><a href="/holds">Holds</a> · <a href="/">Today</a></p>`,
  };
};

const ON = {
  source: { title: "Hold an account", label: "Id of the funding account", key: "source" },
  playbook: { title: "Hold a playbook", label: "Name of the playbook", key: "playbook" },
} as const;

function onOf(said: URLSearchParams) {
  return said.get("on") === "playbook" ? ON.playbook : ON.source;
}

export const newHold: PageOf = async ({ query, visitor }) => {
  const on = onOf(query);
  const [business] = visitor.businesses;
  return {
    title: on.title,
    main: section(
      "What, and why",
      form(
        visitor,
        "/holds/new",
        html`${hidden("on", on.key)}
          ${visitor.businesses.length > 1 ? field({ name: "business", label: "Business", value: business ?? "" }) : ""}
          ${field({ name: "value", label: on.label })}
          ${field({ name: "reason", label: "Why", hint: "Kept in the trail, and shown to others." })}
          ${field(UNTIL)}
          <div class="acts">${submit("Hold it")}<a href="/holds">Back</a></div>`,
      ),
    ),
  };
};

export const setHold: ActOf = async ({ api, form: sent }) => {
  const said = holdSaid(sent, sent.get("reason") ?? "");
  const business = sent.get("business");
  await api.post(HoldBody, "/v1/holds", {
    body: {
      [onOf(sent).key]: (sent.get("value") ?? "").trim(),
      ...said,
      ...(business === null ? {} : { business }),
    },
  });
  return { goTo: "/holds" };
};

/** The holds of a page that is about something else. */
export function holdsOn(items: readonly Hold[]): Markup {
  return live(
    "holds",
    items.length === 0 ? html`<p class="quiet">No hold.</p>` : holdTable(items, false),
  );
}
