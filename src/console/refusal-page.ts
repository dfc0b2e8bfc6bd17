import { html } from "./html.ts";
import { note } from "./elements.ts";
import type { PageContent } from "./layout.ts";

const TITLES: Readonly<Record<number, string>> = {
  403: "You may not do this",
  404: "There is no such page",
  409: "Things have moved on",
  422: "This can’t be done",
  429: "Too much at once",
};

/** The API's own words name ids and operations; a person who reads a page searches instead. */
const NOT_HERE =
  "There is no page at this address, or not for you. Search for a vendor, a bill’s number, an amount or a run.";
/** Without a sign-in there is no search. */
const NOT_HERE_FOR_ANYBODY = "There is no page at this address.";

/** Builds the page for a person about a refusal, or about an address that doesn't exist. */
export function refusalPage({
  status,
  message,
  back,
  isAct = false,
  isSignedIn = true,
}: {
  readonly status: number;
  readonly message: string;
  /** The page that the person came from. */
  readonly back?: string | undefined;
  /** True if a form caused the request. */
  readonly isAct?: boolean;
  readonly isSignedIn?: boolean;
}): PageContent {
  const notHere = isSignedIn ? NOT_HERE : NOT_HERE_FOR_ANYBODY;
  const title =
    TITLES[status] ?? (status >= 500 ? "Something failed here" : "Something is not right");
  return {
    title,
    main: html`${note(status >= 500 ? "stop" : "warn", html`<p>${status === 404 ? notHere : message}</p>`)}
      <p>
        ${status === 404 ? "" : status < 500 ? "Nothing was done." : isAct ? "Nothing is known to have been done." : ""}
        ${back === undefined ? "" : html`<a href="${back}">Back</a> · `}<a href="/"
          >${isSignedIn ? "Today" : "Sign in"}</a
        >
      </p>`,
  };
}
