import { html } from "./html.ts";
import { bannersFor } from "./banners.ts";
import { asset } from "./files.ts";
import { form, note } from "./elements.ts";
import type { Visitor } from "./visitor.ts";

/** The content of a page, without what surrounds every page. */
export interface PageContent {
  readonly title: string;
  readonly lead?: unknown;
  readonly main: unknown;
  /** 200 by default. */
  readonly status?: number;
  /**
   * Hash of the plan that the page is about. If the page has a form, its script says when the plan
   * has changed.
   */
  readonly planHash?: string | undefined;
  /**
   * Of a page that answers a form: the page whose banners it shows, since its own address is never
   * requested again.
   */
  readonly bannersOf?: string;
}

/**
 * Headers of every page: only the console's own files are loaded and run, forms go only to it, and
 * no site may frame it.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  // “no-referrer” would make browsers send forms without their origin.
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
};

const NAV: readonly (readonly [string, string])[] = [
  ["/", "Today"],
  ["/needs-action", "Needs action"],
  ["/holds", "Holds"],
  ["/reports", "Reports"],
];

/**
 * Renders the whole page for a signed-in visitor. Every page shows the holds on everything and on
 * accounts.
 */
export async function around(visitor: Visitor, path: string, page: PageContent): Promise<string> {
  const banners = await bannersFor(visitor);
  const links = NAV.map(
    ([to, name]) =>
      html`<li><a href="${to}" ${to === path ? html`aria-current="page"` : ""}>${name}</a></li>`,
  );
  const plan = page.planHash === undefined ? "" : html` data-plan="${page.planHash}"`;
  const look = page.bannersOf === undefined ? "" : html` data-look="${page.bannersOf}"`;
  return shell(
    page.title,
    html`<header class="top">
        <div class="bar">
          ${BRAND}
          <nav aria-label="Pages">
            <ul class="nav">
              ${links}
            </ul>
          </nav>
          <form class="search" role="search" action="/search">
            <input
              type="search"
              name="q"
              aria-label="Vendor, bill number or amount"
              placeholder="Vendor, bill, amount"
              maxlength="200"
              required
            />
            <button class="quiet">Search</button>
          </form>
          <div class="end">
            <a class="button stop line" href="/emergency">Stop everything</a>
            ${form(visitor, "/sign-out", html`<button class="plain-button" title="Signed in as ${visitor.name}">Sign out</button>`)}
          </div>
        </div>
      </header>
      <main id="main" ${plan}${look}>
        <div id="banners" data-live aria-live="polite">${banners}</div>
        ${page.planHash === undefined ? "" : PLAN_CHANGED}
        <header>
          <h1>${page.title}</h1>
          ${page.lead === undefined ? "" : html`<div class="lead">${page.lead}</div>`}
        </header>
        ${page.main}
      </main>
      <footer class="foot">
        <p>Signed in as ${visitor.name} (${visitor.roles.join(", ")}).</p>
      </footer>`,
  );
}

/** Renders a page that is independent of the visitor: signing in, and errors before that. */
export async function standAlonePage({ title, lead, main }: PageContent): Promise<string> {
  return shell(
    title,
    html`<header class="top"><div class="bar">${BRAND}</div></header>
      <main id="main" class="alone">
        <header>
          <h1>${title}</h1>
          ${lead === undefined ? "" : html`<div class="lead">${lead}</div>`}
        </header>
        ${main}
      </main>`,
  );
}

async function shell(title: string, body: unknown): Promise<string> {
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Payrun</title>
        <link rel="icon" href="${asset("icon.svg")}" type="image/svg+xml" />
        <link rel="stylesheet" href="${asset("style.css")}" />
        <script src="${asset("live.js")}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>${body}
      </body>
    </html>`;
  return page.toString();
}

/** The page's script shows this when the plan has changed while a form is open. */
const PLAN_CHANGED = html`<div id="plan-changed" role="alert" hidden>
  ${note(
    "stop",
    html`<p>
      What you see here is no longer the plan. <a href="">Look at it again</a>; nothing was decided.
    </p>`,
    "The plan has changed",
  )}
</div>`;

const BRAND = html`<a class="brand" href="/"
  ><svg width="26" height="26" viewBox="0 0 26 26" aria-hidden="true">
    <path d="M3 7h13M3 13h9M3 19h6M13 18l4 4 7-11" /></svg
  >Payrun</a
>`;
