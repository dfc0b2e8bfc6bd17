import { z } from "zod";
import { principalOf } from "../../contracts/principal.ts";
import type { SessionView } from "../../domain/approvals/session.ts";
import { coversBusinesses, hasRole } from "../../domain/approvals/token.ts";
import { SessionBody, SessionListBody, SignInLinkBody } from "../../api/sessions.ts";
import { GatewayError, notFound } from "../../actions/errors.ts";
import type { Principal } from "../../actions/principal.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import { endSession, makeSignInLink, viewSessions } from "../../store/approvals/sessions.ts";
import { getToken } from "../../store/approvals/tokens.ts";
import { zoneOfAll } from "../../reports/moment.ts";
import type { Routes } from "../http/route.ts";
import type { ScopedContext } from "../http/scope.ts";
import { linkTo } from "../sign-in/link.ts";
import { idField, MAY } from "./fields.ts";

/** Adds sign-in links for the console, and the sessions of people who are signed in. */
export function addSessionRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "createSignInLink",
    method: "post",
    path: "/v1/sign-in-links",
    tag: "sessions",
    summary: "Makes a link that signs the caller in at the console, once, within ten minutes",
    hasSecret: true,
    responses: { 201: { description: "The link, shown this once", schema: SignInLinkBody } },
    handle: async ({ principal, context }) => {
      const { tokenId, name, signedInAtMs } = principal;
      if (signedInAtMs !== undefined) {
        const why = "Only a token makes a link: a sign-in that lasts would make itself a new one.";
        throw new GatewayError("forbidden", why);
      }
      const nowMs = context.nowMs();
      const signIn = { holder: { tokenId }, name, way: "link", signedInAtMs: nowMs } as const;
      const { code, expiresAtMs } = await context.store.transactionOf(STORE_TRAIL, async (trx) => ({
        tokenId,
        ...(await makeSignInLink(trx, signIn, nowMs)),
      }));
      const expiresAt = new Date(expiresAtMs).toISOString();
      return {
        status: 201,
        json: { url: linkTo(context, code), code, name, expiresAt, zone: zoneOfAll(context) },
      };
    },
  });

  routes.add({
    whose: "profiles",
    operationId: "listSessions",
    method: "get",
    path: "/v1/sessions",
    tag: "sessions",
    summary:
      "Who is or was signed in: the caller, and for an administrator everyone in their businesses",
    responses: { 200: { description: "All, the last sign-in first", schema: SessionListBody } },
    handle: async ({ principal, context }) => ({
      status: 200,
      json: { items: await sessionsOf(context, principal), zone: zoneOfAll(context) },
    }),
  });

  routes.add({
    whose: "profiles",
    operationId: "endSession",
    method: "delete",
    path: "/v1/sessions/{id}",
    tag: "sessions",
    summary: "Ends a session at once: the caller's own, or as an administrator anyone's",
    params: z.object({ id: idField }),
    responses: { 200: { description: "Ended", schema: SessionBody } },
    handle: async ({ params, principal, context }) => {
      const known = oneOf(await sessionsOf(context, principal), params.id);
      const deed = { by: principal.name, nowMs: context.nowMs() };
      const session = { sessionId: known.id, name: known.name };
      await context.store.transactionOf(STORE_TRAIL, (trx) => endSession(trx, session, deed));
      return { status: 200, json: oneOf(await sessionsOf(context, principal), params.id) };
    },
  });
}

/**
 * @throws GatewayError 404 if the session is none of these, which are all that the caller may see
 */
function oneOf(sessions: readonly SessionView[], sessionId: string): SessionView {
  const found = sessions.find((each) => each.id === sessionId);
  if (found !== undefined) return found;
  throw notFound(`There is no session “${sessionId}”; “payrun session list” shows them.`);
}

/**
 * Returns the caller's own sessions; for an administrator also those of people whose tokens they
 * may end.
 */
async function sessionsOf(
  { store, nowMs }: ScopedContext,
  principal: Principal,
): Promise<SessionView[]> {
  const { name, businesses } = principal;
  const all = await viewSessions(store.db, nowMs());
  const isAdmin = hasRole(principal, MAY.administer);
  const theirs: SessionView[] = [];
  for (const session of all) {
    const isMine = principalOf(session.name) === principalOf(name);
    if (isMine || (isAdmin && coversBusinesses(businesses, await businessesOf(session)))) {
      theirs.push(session);
    }
  }
  return theirs;

  async function businessesOf(session: SessionView): Promise<readonly string[] | null> {
    if (session.tokenId === null) return session.businesses;
    return (await getToken(store.db, session.tokenId))?.businesses ?? null;
  }
}
