import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { GatewayError } from "../../actions/errors.ts";
import { principalOf } from "../../contracts/principal.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import {
  endSession,
  findSession,
  openSession,
  type SignIn,
} from "../../store/approvals/sessions.ts";
import { type Caller, signedOut } from "./auth.ts";
import type { GatewayContext } from "./context.ts";
import { addressOf } from "./request.ts";
import { principalOfHolder, principalOfSession, type SignedIn } from "./session-principal.ts";

const COOKIE = "payrun_session";

/** A caller who is signed in at the console. */
export interface SignedInCaller extends Caller {
  readonly principal: SignedIn;
}

/**
 * Returns the caller of the session whose cookie a request carries; undefined if it carries none,
 * or the session doesn't count. Only the console and the codec accept sessions: `/v1` requires a
 * token.
 *
 * @throws GatewayError 429 if the session's rate is exceeded
 */
export async function callerOfSession(
  c: Context,
  context: GatewayContext,
): Promise<SignedInCaller | undefined> {
  const secret = readCookie(c, context, COOKIE);
  if (secret === undefined) return undefined;
  const principal = await principalOfSession(context, context.store.db, secret);
  if (principal === undefined) {
    context.metrics.refused.inc({ why: "session" });
    return undefined;
  }
  await context.rates.token(principal.sessionId);
  context.uses.note({ id: principal.sessionId, name: principal.name }, addressOf(c, context));
  return { principal, shown: { kind: "session", secret } };
}

/** @throws GatewayError 401 `signed_out` if nobody is signed in */
export async function requireSession(c: Context, context: GatewayContext): Promise<SignedInCaller> {
  const caller = await callerOfSession(c, context);
  if (caller === undefined) throw signedOut();
  return caller;
}

/**
 * The hidden field of each form: without its value, another site's page can't submit a form in the
 * name of the person who is signed in.
 */
export const FORM_TOKEN_FIELD = "form_token";

/** Returns what a form of this session must carry in `FORM_TOKEN_FIELD`. */
export function formTokenOf({ shown }: Caller): string {
  return createHmac("sha256", shown.secret).update("form").digest("base64url");
}

/**
 * Checks that a form comes from a page that this gateway made for this session.
 *
 * @throws GatewayError 403 if it doesn't
 */
export function requireOwnForm(
  c: Context,
  context: Pick<GatewayContext, "publicUrl">,
  { caller, formToken }: { readonly caller: Caller; readonly formToken: unknown },
): void {
  requireOwnOrigin(c, context);
  const expected = Buffer.from(formTokenOf(caller));
  const given = Buffer.from(typeof formToken === "string" ? formToken : "");
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new GatewayError(
    "form_outdated",
    "This form was made for another sign-in: load the page again and send it from there. Nothing was done.",
  );
}

/** @throws GatewayError 403 if a page of another origin made the browser send the request */
export function requireOwnOrigin(
  c: Context,
  { publicUrl }: Pick<GatewayContext, "publicUrl">,
): void {
  const own = new URL(publicUrl()).origin;
  if (c.req.header("origin") === own) return;
  throw new GatewayError(
    "foreign_form",
    `This must be sent from a page of ${own} (PAYRUN_PUBLIC_URL): open the console there. Nothing was done.`,
  );
}

/**
 * Opens a session for a person who has proven who they are, and sets its cookie in the browser.
 * Ends the browser's previous session, so that a cookie that was known before can't be used
 * further.
 *
 * @throws GatewayError 401 if the token or identity that they signed in by no longer counts
 */
export async function signIn(c: Context, context: GatewayContext, by: SignIn): Promise<void> {
  const nowMs = context.nowMs();
  const before = readCookie(c, context, COOKIE);
  const opened = await context.store.transactionOf(STORE_TRAIL, async (trx) => {
    const principal = await principalOfHolder(context, trx, by.holder);
    if (principal === undefined) return undefined;
    const { expiresAtMs: endsAtMs } = principal;
    // Another person at the same browser must not get the kept form.
    const last = before === undefined ? undefined : await findSession(trx, before);
    const isSame = last !== undefined && principalOf(last.name) === principalOf(principal.name);
    const keptForm = isSame ? last.keptForm : null;
    if (last !== undefined) await endSession(trx, last, { by: principal.name, nowMs });
    return openSession(trx, by, { nowMs, from: addressOf(c, context), endsAtMs, keptForm });
  });
  if (opened === undefined) throw signedOut();
  const seconds = Math.floor((opened.session.expiresAtMs - nowMs) / 1000);
  writeCookie(c, context, COOKIE, opened.secret, seconds);
}

/** Ends the session in the store, and drops its cookie. */
export async function signOut(
  c: Context,
  context: GatewayContext,
  { principal }: SignedInCaller,
): Promise<void> {
  const deed = { by: principal.name, nowMs: context.nowMs() };
  await context.store.transactionOf(STORE_TRAIL, (trx) => endSession(trx, principal, deed));
  dropCookie(c, context, COOKIE);
}

/**
 * Returns true if the console is on HTTPS. Then the cookie's name has a prefix that ties it to this
 * host, so that no other host of the domain can plant one.
 */
function isSecure({ publicUrl }: Pick<GatewayContext, "publicUrl">): boolean {
  return publicUrl().startsWith("https:");
}

/** Sets a cookie that scripts can't read. */
export function writeCookie(
  c: Context,
  context: Pick<GatewayContext, "publicUrl">,
  name: string,
  value: string,
  maxAge: number,
): void {
  const secure = isSecure(context);
  const options = { path: "/", httpOnly: true, sameSite: "Lax", secure, maxAge } as const;
  setCookie(c, name, value, secure ? { ...options, prefix: "host" } : options);
}

export function readCookie(
  c: Context,
  context: Pick<GatewayContext, "publicUrl">,
  name: string,
): string | undefined {
  return isSecure(context) ? getCookie(c, name, "host") : getCookie(c, name);
}

export function dropCookie(
  c: Context,
  context: Pick<GatewayContext, "publicUrl">,
  name: string,
): void {
  const secure = isSecure(context);
  deleteCookie(c, name, secure ? { path: "/", secure, prefix: "host" } : { path: "/" });
}
