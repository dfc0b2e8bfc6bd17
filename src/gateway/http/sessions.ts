import { createHmac, timingSafeEqual } from "node:crypto";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { GatewayError } from "../../actions/errors.ts";
import { principalOf } from "../../domain/approvals/principal.ts";
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

/** Somebody who is signed in at the console. */
export interface SignedInCaller extends Caller {
  readonly principal: SignedIn;
}

/**
 * Whose session a request's cookie is; undefined where it has none, or one that counts for nothing.
 * Only the console and the codec take it: `/v1` asks for a token.
 *
 * @throws GatewayError 429 where the session asks too often
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

/** @throws GatewayError 401 `signed_out` where nobody is signed in */
export async function requireSession(c: Context, context: GatewayContext): Promise<SignedInCaller> {
  const caller = await callerOfSession(c, context);
  if (caller === undefined) throw signedOut();
  return caller;
}

/** The hidden field of each form, so that no other page can send one for whoever is signed in. */
export const FORM_TOKEN_FIELD = "form_token";

/** What a form of this session must carry in `FORM_TOKEN_FIELD`. */
export function formTokenOf({ shown }: Caller): string {
  return createHmac("sha256", shown.secret).update("form").digest("base64url");
}

/**
 * @throws GatewayError 403 unless a form comes from a page of this gateway, which it made for this
 * session
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
    403,
    "form_outdated",
    "This form was made for another sign-in: load the page again and send it from there. Nothing was done.",
  );
}

/** @throws GatewayError 403 where a browser sends something that a page from elsewhere made it send */
export function requireOwnOrigin(
  c: Context,
  { publicUrl }: Pick<GatewayContext, "publicUrl">,
): void {
  const own = new URL(publicUrl()).origin;
  if (c.req.header("origin") === own) return;
  throw new GatewayError(
    403,
    "foreign_form",
    `This must be sent from a page of ${own} (PAYRUN_PUBLIC_URL): open the console there. Nothing was done.`,
  );
}

/**
 * Opens a session for whoever has shown who they are, and gives the browser its cookie. The one that
 * the browser had ends: nobody goes on with a cookie that was known before.
 *
 * @throws GatewayError 401 where what they signed in by counts for nothing any more
 */
export async function signIn(c: Context, context: GatewayContext, by: SignIn): Promise<void> {
  const nowMs = context.nowMs();
  const before = readCookie(c, context, COOKIE);
  const opened = await context.store.transactionOf(STORE_TRAIL, async (trx) => {
    const principal = await principalOfHolder(context, trx, by.holder);
    if (principal === undefined) return undefined;
    const { expiresAtMs: endsAtMs } = principal;
    // Somebody else at the same browser finds nothing of it.
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

/** Ends the session, here and in the store. */
export async function signOut(
  c: Context,
  context: GatewayContext,
  { principal }: SignedInCaller,
): Promise<void> {
  const deed = { by: principal.name, nowMs: context.nowMs() };
  await context.store.transactionOf(STORE_TRAIL, (trx) => endSession(trx, principal, deed));
  dropCookie(c, context, COOKIE);
}

/** On HTTPS a cookie is of this host alone, by its name: no neighbour can plant one. */
function isSecure({ publicUrl }: Pick<GatewayContext, "publicUrl">): boolean {
  return publicUrl().startsWith("https:");
}

/** A cookie that no script reads. */
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
