import { html } from "hono/html";
import { field, type FieldSpec, form, hidden, note, section, submit } from "../elements.ts";
import type { ActOf, Made, PageOf, PageRequest } from "../page.ts";
import type { Markup } from "../words.ts";

/** An act on one thing that asks why first, and says what it does before it does it. */
export interface Ask<Subject> {
  /** Reads what it is about. */
  readonly subject: (request: PageRequest) => Promise<Subject>;
  readonly title: (subject: Subject) => string;
  readonly lead: (subject: Subject) => unknown;
  /** What it does, and what it doesn't. */
  readonly says: (subject: Subject) => Markup;
  readonly button: string;
  readonly isStop?: boolean;
  /** Besides the reason. */
  readonly fields?: (subject: Subject) => readonly FieldSpec[];
  /** Sent along unseen. */
  readonly kept?: (subject: Subject) => Readonly<Record<string, string>>;
  /** Where its page is, which the form is sent to as well. */
  readonly at: (subject: Subject) => string;
  readonly back: (subject: Subject) => string;
  /** Does it. @throws Refused */
  readonly act: (
    request: PageRequest & { readonly form: URLSearchParams },
    subject: Subject,
    reason: string,
  ) => Promise<Made>;
}

/** The page that asks, and what its form does. */
export function asking<Subject>(ask: Ask<Subject>): { readonly page: PageOf; readonly act: ActOf } {
  return {
    page: async (request) => pageFor(ask, request, await ask.subject(request)),
    act: async (request) => {
      const subject = await ask.subject(request);
      const reason = (request.form.get("reason") ?? "").trim();
      if (reason === "")
        return pageFor(ask, request, subject, "Say why: it is kept, and shown to others.");
      return ask.act(request, subject, reason);
    },
  };
}

function pageFor<Subject>(
  ask: Ask<Subject>,
  { visitor }: PageRequest,
  subject: Subject,
  problem?: string,
): Made {
  const kept = Object.entries(ask.kept?.(subject) ?? {}).map(([name, value]) =>
    hidden(name, value),
  );
  return {
    title: ask.title(subject),
    lead: ask.lead(subject),
    status: problem === undefined ? 200 : 422,
    main: section(
      "Before you do this",
      html`${note(ask.isStop === true ? "warn" : "info", ask.says(subject))}
      ${form(
        visitor,
        ask.at(subject),
        html`${kept}
          ${field({ name: "reason", label: "Why", problem, hint: "Kept in the trail, and shown to others." })}
          ${(ask.fields?.(subject) ?? []).map(field)}
          <div class="acts">
            ${submit(ask.button, ask.isStop === true ? "stop" : "go")}<a href="${ask.back(subject)}"
              >Back</a
            >
          </div>`,
      )}`,
    ),
  };
}
