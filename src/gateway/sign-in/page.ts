import { html } from "hono/html";
import type { Page } from "../http/html.ts";
import { FORM_TOKEN_FIELD } from "../http/sessions.ts";

/** What a sign-in page offers. */
export interface Offers {
  /** Where the person wanted to go. */
  readonly to: string;
  /** Companies' own providers: the business that names each, and how people know it. */
  readonly providers: readonly { readonly business: string; readonly host: string }[];
  /** True where some profile says people's own addresses. */
  readonly mail: boolean;
  /** True where the sign-in is to be a new one, whoever is signed in. */
  readonly again: boolean;
  readonly problem?: string;
}

/** Where somebody shows who they are. Without a script, a link's code is typed in. */
export function signInPage({ to, providers, mail, again, problem }: Offers): Page {
  return layout(
    "Sign in",
    html`
      ${problem === undefined ? "" : html`<p class="problem" role="alert">${problem}</p>`}
      ${again ? html`<p>What you are about to do asks for a recent sign-in.</p>` : ""}
      <form method="post" action="/sign-in">
        <label for="code">Code of your link</label>
        <input
          id="code"
          name="code"
          type="text"
          autocomplete="one-time-code"
          spellcheck="false"
          required
        />
        <input type="hidden" name="to" value="${to}" />
        <button type="submit">Sign in</button>
        <p class="hint">
          <code>payrun login</code> prints a link, which works once, for ten minutes. The code is
          what stands in it behind <code>#</code>.
        </p>
      </form>
      <div class="others">
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
      </div>
    `,
  );
}

function query(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== "");
  return new URLSearchParams(given).toString();
}

function mailForm(to: string) {
  return html`
    <form method="post" action="/sign-in/mail">
      <label for="address">Your e-mail address</label>
      <input id="address" name="address" type="email" autocomplete="email" required />
      <input type="hidden" name="to" value="${to}" />
      <button type="submit">Mail me a link</button>
    </form>
  `;
}

/** The same for an address that is known and for one that is not. */
export function mailedPage(): Page {
  return layout(
    "A link by mail",
    html`
      <p>
        If the address belongs to somebody who may sign in here, a link is on its way to it. It
        works once, for ten minutes.
      </p>
      <p>
        Nothing after a few minutes? Look at the address, or ask an administrator.
        <a href="/sign-in">Back</a>
      </p>
    `,
  );
}

/** Who somebody is at their company's provider may stand for several things. */
export function choicePage(
  to: string,
  choices: readonly {
    readonly code: string;
    readonly name: string;
    readonly roles: readonly string[];
    readonly businesses: readonly string[];
  }[],
): Page {
  return layout(
    "Sign in as",
    html`${choices.map(
      ({ code, name, roles, businesses }) =>
        html`<form method="post" action="/sign-in">
          <input type="hidden" name="code" value="${code}" />
          <input type="hidden" name="to" value="${to}" />
          <button type="submit">${name}, ${roles.join(", ")} for ${businesses.join(", ")}</button>
        </form>`,
    )}`,
  );
}

/** Who is signed in, and the way out. */
export function signedInPage(signedIn: {
  readonly name: string;
  readonly roles: readonly string[];
  readonly to: string;
  readonly formToken: string;
}): Page {
  return layout(
    `Signed in as ${signedIn.name}`,
    html`
      <p>Roles: ${signedIn.roles.join(", ")}</p>
      <p><a class="button" href="${signedIn.to}">Go on</a></p>
      <form method="post" action="/sign-out">
        <input type="hidden" name="${FORM_TOKEN_FIELD}" value="${signedIn.formToken}" />
        <button type="submit">Sign out</button>
      </form>
    `,
  );
}

/** What went wrong, in one sentence. */
export function problemPage(problem: string): Page {
  return layout(
    "That didn't work",
    html`<p class="problem" role="alert">${problem}</p>
      <p><a href="/sign-in">Sign in</a></p>`,
  );
}

function layout(title: string, body: Page): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Payrun</title>
        <link rel="stylesheet" href="/sign-in.css" />
        <script src="/sign-in.js" defer></script>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`;
}

export const SIGN_IN_CSS = `
:root { color-scheme: light dark; --line: #6b7280; --accent: #1d4ed8; --on-accent: #fff; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --line: #9ca3af; --accent: #93c5fd; --on-accent: #0b1220; --bad: #fca5a5; } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 26rem; margin: 0 auto; padding: 2rem 1rem; }
h1 { font-size: 1.5rem; }
label { display: block; font-weight: 600; }
input { box-sizing: border-box; width: 100%; font: inherit; padding: .5rem; border: 1px solid var(--line); border-radius: .25rem; }
button, .button { display: inline-block; box-sizing: border-box; font: inherit; font-weight: 600; margin: .75rem 0; padding: .6rem 1rem; min-height: 2.75rem; border: 1px solid transparent; border-radius: .25rem; background: var(--accent); color: var(--on-accent); text-decoration: none; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.problem { border-left: .25rem solid var(--bad); padding-left: .75rem; }
.with-code .hint, .with-code .others, .with-code label, .with-code input { display: none; }
`;

/** A link's code never reaches a server's log: it stands behind the #, and goes with the button. */
export const SIGN_IN_SCRIPT = `
const code = location.hash.slice(1);
const field = document.getElementById("code");
if (code !== "" && field !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  field.value = code;
  document.documentElement.classList.add("with-code");
}
`;
