import { html } from "../html.ts";
import { field, type FieldSpec, form, hidden, note, section, submit } from "../elements.ts";
import type { ActOf, MadePage, PageOf, PageRequest } from "../page.ts";
import { Refused } from "../refused.ts";
import type { Markup } from "../words.ts";

/** An act on one thing that asks for a reason first, and says what it does before it does it. */
export interface Ask<Subject> {
  /** Reads what the act is about. */
  readonly subject: (request: PageRequest) => Promise<Subject>;
  readonly title: (subject: Subject) => string;
  readonly lead: (subject: Subject) => unknown;
  /** What the act does, and what it doesn't. */
  readonly says: (subject: Subject) => Markup;
  readonly button: string;
  readonly isStop?: boolean;
  /** Fields besides the reason. */
  readonly fields?: (subject: Subject) => readonly FieldSpec[];
  /** Returns what is wrong with these fields, by name. */
  readonly check?: (form: URLSearchParams) => Readonly<Record<string, string>>;
  /** Hidden fields, sent along with the form. */
  readonly kept?: (subject: Subject) => Readonly<Record<string, string>>;
  /** The page's address, to which the form is sent too. */
  readonly at: (subject: Subject) => string;
  readonly back: (subject: Subject) => string;
  /** Performs the act. @throws Refused */
  readonly act: (
    request: PageRequest & { readonly form: URLSearchParams },
    subject: Subject,
    reason: string,
  ) => Promise<MadePage>;
}

/** Which roles may set a hold, for visitors who may not. */
export const HELD_BY = html`<p class="quiet">
  A hold takes the role operator or admin, or one that approves payments.
</p>`;

/** Builds the page that asks, and the action of its form. */
export function asking<Subject>(ask: Ask<Subject>): { readonly page: PageOf; readonly act: ActOf } {
  return {
    page: async (request) => pageFor(ask, request, await ask.subject(request)),
    act: async (request) => {
      const { form: said } = request;
      const subject = await ask.subject(request);
      const reason = (said.get("reason") ?? "").trim();
      const problems = {
        ...(reason === "" ? { reason: "Say why: it is kept, and shown to others." } : {}),
        ...ask.check?.(said),
      };
      if (Object.keys(problems).length > 0)
        return pageFor(ask, request, subject, { said, problems });
      return orAgain(
        () => ask.act(request, subject, reason),
        (refusal) => pageFor(ask, request, subject, { said, problems, refusal }),
      );
    },
  };
}

/**
 * Performs the act. If the API refuses the input (400 or 422), shows the form again with what was
 * filled in.
 */
export async function orAgain(
  act: () => Promise<MadePage>,
  again: (refusal: string) => MadePage,
): Promise<MadePage> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 400 && error.status !== 422)) throw error;
    return again(error.message);
  }
}

/** What was submitted, and what was wrong with it. */
interface Sent {
  readonly said: URLSearchParams;
  readonly problems: Readonly<Record<string, string>>;
  readonly refusal?: string;
}

const NOTHING_SENT: Sent = { said: new URLSearchParams(), problems: {} };

function pageFor<Subject>(
  ask: Ask<Subject>,
  { visitor }: PageRequest,
  subject: Subject,
  { said, problems, refusal }: Sent = NOTHING_SENT,
): MadePage {
  const kept = Object.entries(ask.kept?.(subject) ?? {}).map(([name, value]) =>
    hidden(name, value),
  );
  const isWrong = refusal !== undefined || Object.keys(problems).length > 0;
  const filled = (spec: FieldSpec) =>
    field({ ...spec, value: said.get(spec.name) ?? "", problem: problems[spec.name] });
  return {
    title: ask.title(subject),
    lead: ask.lead(subject),
    status: isWrong ? 422 : 200,
    main: section(
      "Before you do this",
      html`${refusal === undefined ? "" : refusedNote(refusal)}
      ${note(ask.isStop === true ? "warn" : "info", ask.says(subject))}
      ${form(
        visitor,
        ask.at(subject),
        html`${kept} ${[WHY, ...(ask.fields?.(subject) ?? [])].map(filled)}
          <div class="acts">
            ${submit(ask.button, ask.isStop === true ? "stop" : "go")}<a href="${ask.back(subject)}"
              >Back</a
            >
          </div>`,
      )}`,
    ),
  };
}

/** The reason, which every act asks for. */
export const WHY: FieldSpec = {
  name: "reason",
  label: "Why",
  hint: "Kept in the trail, and shown to others.",
};

export function refusedNote(refusal: string): Markup {
  return note("stop", html`<p role="alert">${refusal}</p>`, "Nothing was done");
}
