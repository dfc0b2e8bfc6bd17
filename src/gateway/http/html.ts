import type { Context } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { GatewayError } from "../../actions/errors.ts";
import { readBody } from "./limits.ts";

/** A page as `hono/html` makes it. */
export type Page = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Nothing of a page comes from elsewhere, runs inline, or is shown inside somebody else's. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Answers with a page of this gateway. */
export function answerPage(
  c: Context,
  page: Page,
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> {
  c.header("content-security-policy", POLICY);
  // “no-referrer” would have browsers send forms without their origin.
  c.header("referrer-policy", "same-origin");
  c.header("x-frame-options", "DENY");
  return c.html(page, status);
}

const FORM_BYTES = 1_048_576;

/** @throws GatewayError 415 unless it is a form, 411 and 413 as `readBody` */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new GatewayError(415, "unsupported_media_type", "Send it as a form.");
  }
  const bytes = await readBody(c, FORM_BYTES);
  return new URLSearchParams(new TextDecoder().decode(bytes));
}

/** Where a page of this gateway may lead on to: a path of its own, `/` for anything else. */
export function ownPath(text: string | null | undefined): string {
  const isOwn =
    typeof text === "string" && text.length <= 1_000 && /^\/(?![/\\])[!-~]*$/.test(text);
  return isOwn && !text.includes("\\") ? text : "/";
}
