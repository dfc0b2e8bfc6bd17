import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { GatewayError } from "../../actions/errors.ts";
import { standAlonePage, type PageContent, PAGE_HEADERS } from "../../console/layout.ts";
import { readBody } from "./limits.ts";

/** Answers with a page for any visitor, signed in or not. */
export async function answerPage(
  c: Context,
  page: PageContent,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(await standAlonePage(page), status, PAGE_HEADERS);
}

const FORM_BYTES = 1_048_576;

/**
 * Reads a form.
 *
 * @throws GatewayError 415 unless the body is a form; 413 and 400 as `readBody`
 */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") {
    throw new GatewayError("unsupported_media_type", "Send it as a form.");
  }
  const bytes = await readBody(c, FORM_BYTES);
  return new URLSearchParams(new TextDecoder().decode(bytes));
}

/**
 * Returns the path of this gateway that a page may lead on to; `/` if the text is anything else.
 */
export function ownPath(text: string | null | undefined): string {
  const isOwn =
    typeof text === "string" && text.length <= 1_000 && /^\/(?![/\\])[!-~]*$/.test(text);
  return isOwn && !text.includes("\\") ? text : "/";
}
