import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { GatewayError } from "../../actions/errors.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import { makeSignInLink, useSignInLink } from "../../store/approvals/sessions.ts";
import type { GatewayContext } from "../http/context.ts";
import { answerPage, ownPath, readForm } from "../http/html.ts";
import { addressOf } from "../http/request.ts";
import { identitiesOf } from "../http/session-principal.ts";
import {
  callerOfSession,
  FORM_TOKEN_FIELD,
  formTokenOf,
  requireOwnForm,
  requireOwnOrigin,
  requireSession,
  signIn,
  signOut,
} from "../http/sessions.ts";
import { knowsAddresses, mailLinks } from "./mail.ts";
import { choicePage, mailedPage, problemPage, signedInPage, signInPage } from "./page.ts";
import { providersOf, ProviderSignIn } from "./provider.ts";

type Handler = (c: Context) => Response | Promise<Response>;

const mailAddress = z.email().max(254);

/** Adds the routes by which people sign in and out at the console. */
export function addSignInRoutes(app: OpenAPIHono, context: GatewayContext): void {
  addPage(app, context);
  addLinks(app, context);
  addProviders(app, context);
  app.post(
    "/sign-out",
    asPage(async (c) => {
      const caller = await requireSession(c, context);
      const form = await readForm(c);
      requireOwnForm(c, context, { caller, formToken: form.get(FORM_TOKEN_FIELD) });
      await signOut(c, context, caller);
      return c.redirect("/sign-in", 303);
    }),
  );
}

function addPage(app: OpenAPIHono, context: GatewayContext): void {
  app.get(
    "/sign-in",
    asPage(async (c) => {
      const to = ownPath(c.req.query("to"));
      const again = c.req.query("again") === "true";
      const caller = again ? undefined : await callerOfSession(c, context);
      const unsent = c.req.query("unsent") === "true";
      if (caller === undefined) {
        return answerPage(c, signInPage({ ...offers(context, { to, again }), unsent }));
      }
      const { name, roles } = caller.principal;
      return answerPage(c, signedInPage({ name, roles, to, formToken: formTokenOf(caller) }));
    }),
  );
}

/**
 * Adds sign-in by links from the command line and by mail. A button uses a link's code, because
 * mail scanners follow links.
 */
function addLinks(app: OpenAPIHono, context: GatewayContext): void {
  app.post(
    "/sign-in",
    asPage(async (c) => {
      requireOwnOrigin(c, context);
      const form = await readForm(c);
      const to = ownPath(form.get("to"));
      const code = form.get("code")?.trim() ?? "";
      const nowMs = context.nowMs();
      const known = await context.store.transactionOf(STORE_TRAIL, (trx) =>
        useSignInLink(trx, code, nowMs),
      );
      if (known === undefined) {
        context.metrics.refused.inc({ why: "sign_in_link" });
        const problem = "The link was used before, or is older than ten minutes: get another one.";
        return answerPage(
          c,
          signInPage({ ...offers(context, { to, again: false }), problem }),
          401,
        );
      }
      await signIn(c, context, known);
      return c.redirect(to, 303);
    }),
  );

  app.post(
    "/sign-in/mail",
    asPage(async (c) => {
      requireOwnOrigin(c, context);
      const form = await readForm(c);
      const address = mailAddress.safeParse(form.get("address")?.trim()).data;
      if (address === undefined) {
        throw new GatewayError("validation_error", "That is not an e-mail address.");
      }
      await context.rates.signInMail(address.toLowerCase(), addressOf(c, context));
      void mailLinks(context, { address, to: ownPath(form.get("to")) });
      return answerPage(c, mailedPage());
    }),
  );
}

function addProviders(app: OpenAPIHono, context: GatewayContext): void {
  const providers = new ProviderSignIn(context);

  app.get(
    "/sign-in/provider",
    asPage((c) =>
      providers.begin(c, {
        business: c.req.query("business") ?? "",
        to: ownPath(c.req.query("to")),
        again: c.req.query("again") === "true",
      }),
    ),
  );

  app.get(
    "/sign-in/callback",
    asPage(async (c) => finishAtProvider(c, context, providers)),
  );
}

/**
 * Signs in a person whom a provider vouches for and a profile names. If the identity stands for
 * several principals, the person chooses one.
 */
async function finishAtProvider(
  c: Context,
  context: GatewayContext,
  providers: ProviderSignIn,
): Promise<Response> {
  const { issuer, subject, signedInAtMs, to } = await providers.finish(c);
  const found = identitiesOf(context.profiles.all(), { issuer, subject });
  const [only] = found;
  if (only === undefined) {
    context.metrics.refused.inc({ why: "identity" });
    context.log.warn("no profile names the person who signed in", { issuer, subject });
    const text = `No profile names you: the person who keeps the profiles must add “identities: [{ issuer: "${issuer}", subject: "${subject}", name: …, roles: … }]”.`;
    throw new GatewayError("unknown_identity", text);
  }
  const asSignIn = ({ name, businesses }: (typeof found)[number]) => ({
    holder: { issuer, subject, businesses },
    name,
    way: "provider" as const,
    signedInAtMs,
  });
  if (found.length === 1) {
    await signIn(c, context, asSignIn(only));
    return c.redirect(to, 303);
  }
  const choices = await context.store.transactionOf(STORE_TRAIL, async (trx) => {
    const made = [];
    for (const each of found) {
      const { code } = await makeSignInLink(trx, asSignIn(each), context.nowMs());
      made.push({ ...each, code });
    }
    return made;
  });
  return answerPage(c, choicePage(to, choices));
}

function offers({ profiles }: GatewayContext, wanted: { to: string; again: boolean }) {
  const all = profiles.all();
  return { ...wanted, providers: providersOf(all), mail: knowsAddresses(all) };
}

/** Answers a refusal with a page, in place of the API's JSON. */
function asPage(handle: Handler): Handler {
  return async (c) => {
    try {
      return await handle(c);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return answerPage(c, problemPage(error.message), error.status);
    }
  };
}
