import { html } from "../html.ts";
import { HoldBody } from "../../api/holds.ts";
import { type NamedView, SearchBody } from "../../api/names.ts";
import { accountName } from "../../domain/names.ts";
import { field, form, hidden, section, submit } from "../elements.ts";
import type { PageContent } from "../layout.ts";
import type { ActOf, PageOf, PageRequest } from "../page.ts";
import { orAgain, refusedNote, WHY } from "./ask.ts";
import { holdSaid, UNTIL, untilProblem } from "./bill-acts.ts";
import { capital } from "../words.ts";
import { type Offered, OFFERED, titleOf } from "./offered-holds.ts";

function onOf(said: URLSearchParams): Offered {
  const named = OFFERED.find(({ scope }) => scope === said.get("on"));
  return named ?? { scope: "source", kind: "account", key: "source" };
}

/** Asks which account, playbook or other thing to put on hold, and why. */
export const newHold: PageOf = async ({ query, visitor }) => pageFor(visitor, query, {});

function pageFor(
  visitor: PageRequest["visitor"],
  said: URLSearchParams,
  problems: Readonly<Record<string, string>>,
  refusal?: string,
): PageContent {
  const on = onOf(said);
  const [business] = visitor.businesses;
  const of = (name: string) => ({ value: said.get(name) ?? "", problem: problems[name] });
  const isWrong = refusal !== undefined || Object.keys(problems).length > 0;
  return {
    title: titleOf(on),
    status: isWrong ? 422 : 200,
    main: section(
      "What, and why",
      html`${refusal === undefined ? "" : refusedNote(refusal)}
      ${form(
        visitor,
        "/holds/new",
        html`${hidden("on", on.scope)}
          ${visitor.businesses.length > 1 ? field({ name: "business", label: "Business", value: said.get("business") ?? business ?? "" }) : ""}
          ${field({ name: "value", label: capital(on.kind), hint: on.kind === "account" ? "Its name, its last four digits or its id." : "Its name.", ...of("value") })}
          ${field({ ...WHY, ...of("reason") })} ${field({ ...UNTIL, ...of("until") })}
          <div class="acts">${submit("Hold it")}<a href="/holds">Back</a></div>`,
      )}`,
    ),
  };
}

export const setHold: ActOf = async (request) => {
  const { api, form: sent, visitor } = request;
  const on = onOf(sent);
  const reason = (sent.get("reason") ?? "").trim();
  const business = sent.get("business");
  const of = business === null ? {} : { business };
  const meant = await meantBy(request, on, of);
  const problems = {
    ...("problem" in meant ? { value: meant.problem } : {}),
    ...(reason === "" ? { reason: "Say why: it is kept, and shown to others." } : {}),
    ...untilProblem(sent),
  };
  if ("problem" in meant || Object.keys(problems).length > 0)
    return pageFor(visitor, sent, problems);
  return orAgain(
    async () => {
      const body = { [on.key]: meant.id, ...holdSaid(sent, reason), ...of };
      await api.post(HoldBody, "/v1/holds", { body });
      return { goTo: "/holds" };
    },
    (refusal) => pageFor(visitor, sent, {}, refusal),
  );
};

/** Finds the one thing that a person means by what they typed; an ambiguous text holds nothing. */
async function meantBy(
  { api, form: sent }: PageRequest & { readonly form: URLSearchParams },
  { kind }: Offered,
  of: { readonly business?: string },
): Promise<{ readonly id: string } | { readonly problem: string }> {
  const text = (sent.get("value") ?? "").trim();
  if (text === "") return { problem: `Say which ${kind}.` };
  const asked = { query: { q: text, kind, ...of } };
  const { exact, near, unread } = await api.get(SearchBody, "/v1/search", asked);
  const [only, other] = exact;
  if (only !== undefined && other === undefined) return { id: only.id };
  if (only !== undefined) return { problem: `“${text}” may be ${namesOf(exact)}: type its id.` };
  const away = unread.map((each) => ` The service of ${each.business} can’t be asked now.`);
  const hint = near.length === 0 ? "" : ` There is ${namesOf(near.slice(0, 3))}.`;
  return { problem: `No ${kind} is called “${text}”.${hint}${away.join("")}` };
}

function namesOf(found: readonly NamedView[]): string {
  return found
    .map((each) => {
      const called = accountName(each.id, each);
      return called === each.id ? each.id : `${called} (${each.id})`;
    })
    .join(" or ");
}
