import { html } from "../../console/html.ts";
import { field, note } from "../../console/elements.ts";
import type { PageContent } from "../../console/layout.ts";
import { FORM_TOKEN_FIELD } from "../http/sessions.ts";

/** What a sign-in page offers. */
export interface Offers {
  /** The page to go to after the sign-in. */
  readonly to: string;
  /** Companies' own providers: a business that names each, and the host that people know it by. */
  readonly providers: readonly { readonly business: string; readonly host: string }[];
  /** True if a profile has people's own mail addresses. */
  readonly mail: boolean;
  /** True if a new sign-in is required, even if the person is signed in. */
  readonly again: boolean;
  /** True if a form was submitted after the person's sign-in had ended. */
  readonly unsent?: boolean;
  readonly problem?: string;
}

/**
 * Returns the page on which a person signs in. Without a script, the person types in a link's code.
 */
export function signInPage({ to, providers, mail, again, unsent, problem }: Offers): PageContent {
  return {
    title: "Sign in",
    main: html`
      ${problem === undefined ? "" : note("stop", html`<p role="alert">${problem}</p>`)}
      ${again ? note("info", html`<p>What you are about to do asks for a recent sign-in.</p>`) : ""}
      ${unsent === true ? note("warn", html`<p>Your sign-in had ended, so nothing was done. Sign in, and do it again.</p>`) : ""}
      ${providers.length === 0 && !mail ? "" : others({ to, providers, mail, again })}
      <section>
        <form method="post" action="/sign-in">
          <p class="with-link">Your link is good for one sign-in. This button uses it.</p>
          <div class="without-link">
            ${field({ name: "code", label: "Code of your link", autocomplete: "one-time-code", hint: "“payrun login” prints a link, which works once, for ten minutes. The code is the part after the #." })}
          </div>
          <input type="hidden" name="to" value="${to}" />
          <button>Sign in</button>
        </form>
      </section>
    `,
  };
}

function others({ to, providers, mail, again }: Omit<Offers, "problem">) {
  return html`<section class="without-link">
    ${providers.map(
      ({ business, host }) =>
        html`<p>
          <a
            class="button"
            href="/sign-in/provider?${query({ business, to, again: again ? "true" : "" })}"
            >Sign in with ${host}</a
          >
        </p>`,
    )}
    ${mail ? mailForm(to) : ""}
  </section>`;
}

function query(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return new URLSearchParams(given).toString();
}

function mailForm(to: string) {
  return html`
    <form method="post" action="/sign-in/mail">
      ${field({ name: "address", label: "Your e-mail address", autocomplete: "email", inputmode: "email" })}
      <input type="hidden" name="to" value="${to}" />
      <button class="quiet">Mail me a link</button>
    </form>
  `;
}

/** Returns the page after a request for a mail. It is the same for known and unknown addresses. */
export function mailedPage(): PageContent {
  return {
    title: "A link by mail",
    main: html`<section>
      <p>
        If the address belongs to somebody who may sign in here, a link is on its way to it. It
        works once, for ten minutes.
      </p>
      <p>
        Nothing after a few minutes? Look at the address, or ask an administrator.
        <a href="/sign-in">Back</a>
      </p>
    </section>`,
  };
}

/**
 * Returns the page on which a person chooses whom to act as, if an identity at the company's
 * provider stands for several principals.
 */
export function choicePage(
  to: string,
  choices: readonly {
    readonly code: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly businesses: readonly string[];
  }[],
): PageContent {
  return {
    title: "Sign in as",
    lead: "Your name or roles are not the same in each business: choose whom to act as now.",
    main: html`<section>
      ${choices.map(
        ({ code, name, roles, businesses }) =>
          html`<form class="acts" method="post" action="/sign-in">
            <input type="hidden" name="code" value="${code}" />
            <input type="hidden" name="to" value="${to}" />
            <button>${name}, ${roles.join(", ")} for ${businesses.join(", ")}</button>
          </form>`,
      )}
    </section>`,
  };
}

/** Returns the page that shows who is signed in, with the way to sign out. */
export function signedInPage(signedIn: {
  readonly name: string;
  readonly roles: readonly string[];
  readonly to: string;
  readonly formToken: string;
}): PageContent {
  return {
    title: `Signed in as ${signedIn.name}`,
    main: html`<section>
      <p>Roles: ${signedIn.roles.join(", ")}</p>
      <form class="acts" method="post" action="/sign-out">
        <a class="button" href="${signedIn.to}">Go on</a>
        <input type="hidden" name="${FORM_TOKEN_FIELD}" value="${signedIn.formToken}" />
        <button class="quiet">Sign out</button>
      </form>
    </section>`,
  };
}

/** Returns the page that says in one sentence what went wrong. */
export function problemPage(problem: string): PageContent {
  return {
    title: "That didn’t work",
    main: html`${note("stop", html`<p role="alert">${problem}</p>`)}
      <p><a href="/sign-in">Sign in</a></p>`,
  };
}
