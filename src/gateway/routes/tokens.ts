import { namedInProfiles } from "../../contracts/principal.ts";
import { z } from "zod";
import {
  confirmationProblem,
  coversBusinesses,
  needsConfirmation,
  roleProblem,
  tokenNameProblem,
  type TokenView,
} from "../../domain/approvals/token.ts";
import { isSensibleMs, SENSIBLE_YEARS } from "../../domain/clock/dates.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import {
  confirmToken,
  createToken,
  LookAlikeError,
  getToken,
  renewToken,
  revokeToken,
  type Token,
  viewTokens,
} from "../../store/approvals/tokens.ts";
import { MadeTokenBody, TokenBody, TokenListBody } from "../../api/tokens.ts";
import { businessNamed } from "../../actions/businesses.ts";
import type { Principal } from "../../actions/principal.ts";
import { conflict, notFound, unprocessable } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { zoneOfAll } from "../../reports/moment.ts";
import type { ScopedContext } from "../http/scope.ts";
import { idField, MAY, name as business } from "./fields.ts";

const name = z.string().superRefine((text, context) => {
  const problem = tokenNameProblem(text);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
});

const role = z.string().superRefine((text, context) => {
  const problem = roleProblem(text);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
});

const params = z.object({ id: idField });

/**
 * Adds the operations on tokens: one administrator creates a token, another confirms it; tokens are
 * listed, renewed and revoked.
 */
export function addTokenRoutes(routes: Routes): void {
  addList(routes);
  addCreate(routes);
  addConfirm(routes);
  addRenew(routes);
  addRevoke(routes);
}

function addList(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listTokens",
    method: "get",
    path: "/v1/tokens",
    tag: "tokens",
    summary: "All tokens of the caller's businesses, first made first, without their secrets",
    roles: MAY.administer,
    responses: { 200: { description: "All", schema: TokenListBody } },
    handle: async ({ principal, context }) => {
      const { businesses } = principal;
      const all = await viewed(context);
      const items = all.filter((token) => coversBusinesses(businesses, token.businesses));
      return { status: 200, json: { items, zone: zoneOfAll(context) } };
    },
  });
}

function addCreate(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "createToken",
    method: "post",
    path: "/v1/tokens",
    tag: "tokens",
    summary: "Makes a token",
    hasSecret: true,
    description:
      "One that may approve, decide or administer counts once another administrator has confirmed it, unless every business is a sandbox.",
    roles: MAY.administer,
    body: z.strictObject({
      name,
      roles: z.array(role).min(1, "must name a role").max(20, "must be at most 20"),
      businesses: z.array(business).min(1, "must name a business").max(1_000).optional(),
      expiresAt: z.iso
        .datetime({ offset: true })
        .refine((text) => isSensibleMs(Date.parse(text)), `must be an instant ${SENSIBLE_YEARS}`)
        .optional()
        .describe("Default: in 90 days"),
    }),
    responses: { 201: { description: "The token, shown this once", schema: MadeTokenBody } },
    handle: async ({ body, principal, context }) => {
      const businesses =
        body.businesses?.map((each) => businessNamed(context, each, "").name) ??
        principal.businesses;
      const nowMs = context.nowMs();
      const expiresAtMs = body.expiresAt === undefined ? undefined : Date.parse(body.expiresAt);
      if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
        throw unprocessable("expires_past", `expiresAt (${body.expiresAt}) has passed.`);
      }
      const made = await createToken(
        context.store,
        {
          name: body.name,
          roles: [...new Set(body.roles)],
          businesses,
          expiresAtMs,
          nowMs,
          createdBy: principal.name,
        },
        namedInProfiles(context.profiles.all()),
      ).catch((error: unknown) => {
        throw error instanceof LookAlikeError ? conflict("look_alike", error.message) : error;
      });
      const { token, tokenId } = made;
      return { status: 201, json: { ...(await shown(context, tokenId)), token } };
    },
  });
}

function addConfirm(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "confirmToken",
    method: "post",
    path: "/v1/tokens/{id}/confirmation",
    tag: "tokens",
    summary: "Confirms as a second administrator that a token belongs to the person it names",
    roles: MAY.administer,
    params,
    responses: { 200: { description: "It counts from now on", schema: TokenBody } },
    handle: async ({ params: { id: tokenId }, principal, context }) => {
      await context.store.transactionOf(STORE_TRAIL, async (trx) => {
        const token = await tokenOf(context, principal, tokenId, trx);
        if (token.confirmedAtMs !== null || !needsConfirmation(token.roles)) return;
        const nowMs = context.nowMs();
        const by = await tokenOf(context, principal, principal.tokenId, trx);
        const problem = confirmationProblem(token, by, nowMs);
        if (problem !== undefined) throw conflict("not_confirmed", `Refused: ${problem}.`);
        await confirmToken(trx, token, { by: by.name, nowMs });
      });
      return { status: 200, json: await shown(context, tokenId) };
    },
  });
}

function addRenew(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "renewToken",
    method: "post",
    path: "/v1/tokens/renewal",
    tag: "tokens",
    summary: "Gives the caller's own token a new secret, which nobody else has seen",
    description: "The old one stops working. Roles, businesses and expiry stay.",
    hasSecret: true,
    responses: { 200: { description: "The token, shown this once", schema: MadeTokenBody } },
    handle: async ({ principal, context }) => {
      const { tokenId } = principal;
      const { token } = await context.store.transactionOf(STORE_TRAIL, async (trx) => ({
        tokenId,
        token: await renewToken(trx, principal, context.nowMs()),
      }));
      return { status: 200, json: { ...(await shown(context, tokenId)), token } };
    },
  });
}

function addRevoke(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "revokeToken",
    method: "delete",
    path: "/v1/tokens/{id}",
    tag: "tokens",
    summary: "Ends a token at once",
    roles: MAY.administer,
    params,
    responses: { 200: { description: "Ended", schema: TokenBody } },
    handle: async ({ params: { id: tokenId }, principal, context }) => {
      await tokenOf(context, principal, tokenId);
      const deed = { by: principal.name, nowMs: context.nowMs() };
      await revokeToken(context.store, tokenId, deed);
      return { status: 200, json: await shown(context, tokenId) };
    },
  });
}

/** @throws GatewayError 404 if there is no such token among the caller's businesses */
async function tokenOf(
  { store }: ScopedContext,
  { businesses }: Principal,
  tokenId: string,
  db = store.db,
): Promise<Token> {
  const token = await getToken(db, tokenId);
  if (token === undefined || !coversBusinesses(businesses, token.businesses)) {
    throw unknownToken(tokenId);
  }
  return token;
}

function unknownToken(tokenId: string): Error {
  return notFound(`There is no token “${tokenId}”; “payrun token list” shows them.`);
}

async function shown(context: ScopedContext, tokenId: string): Promise<TokenView> {
  const found = (await viewed(context)).find(({ id: each }) => each === tokenId);
  if (found === undefined) throw unknownToken(tokenId);
  return found;
}

function viewed({ store, nowMs, sandboxesOnly }: ScopedContext): Promise<TokenView[]> {
  return viewTokens(store.db, { nowMs: nowMs(), sandboxesOnly: sandboxesOnly() });
}
