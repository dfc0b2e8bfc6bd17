import type { Context } from "hono";
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import { type BodyInit, fetch } from "undici";
import { z } from "zod";
import { HOUR_MS } from "../../contracts/durations.ts";
import { GatewayError } from "../../actions/errors.ts";
import type { BusinessProfile, IdentityProvider } from "../../config/business-profile.ts";
import { SESSION_HOURS } from "../../domain/approvals/session.ts";
import { WaysOut } from "../../outgoing/ways-out.ts";
import { reasonOf } from "../../process/repeat.ts";
import type { GatewayContext } from "../http/context.ts";
import { ownPath } from "../http/html.ts";
import { dropCookie, readCookie, writeCookie } from "../http/sessions.ts";

/** A person that a company's provider has vouched for. */
export interface Vouched {
  readonly issuer: string;
  readonly subject: string;
  /** When the person last authenticated at the provider. */
  readonly signedInAtMs: number;
  readonly to: string;
}

const COOKIE = "payrun_sign_in";
/** Long enough for a person to find their phone. */
const FLOW_SECONDS = 600;
const SCOPE = "openid";
const CALLBACK = "/sign-in/callback";
const TIMEOUT_SECONDS = 10;
const CONFIGURATION_MS = HOUR_MS;

/** What the browser keeps while a sign-in is in progress. */
const Flow = z.object({
  business: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
});

/** Returns the companies' own providers that the profiles name, each once. */
export function providersOf(
  profiles: readonly BusinessProfile[],
): { business: string; host: string }[] {
  const found = new Map<string, { business: string; host: string }>();
  for (const { name: business, signIn } of profiles) {
    const { issuer, clientId } = signIn?.provider ?? {};
    if (issuer === undefined) continue;
    const key = `${issuer} ${clientId ?? ""}`;
    if (!found.has(key)) found.set(key, { business, host: new URL(issuer).host });
  }
  return [...found.values()];
}

/** Signs people in at their companies' providers (OpenID Connect, authorization code with PKCE). */
export class ProviderSignIn {
  readonly #context: GatewayContext;
  readonly #known = new Map<string, { at: number; configuration: Configuration }>();

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /**
   * Sends the browser to a business's provider.
   *
   * @param again true if the provider must authenticate the person anew, even one that it remembers
   * @throws GatewayError 404 if the business has no provider, 502 if the provider can't be reached
   */
  async begin(
    c: Context,
    wanted: { business: string; to: string; again: boolean },
  ): Promise<Response> {
    const { business, to, again } = wanted;
    const configuration = await this.#configurationOf(this.#providerOf(business));
    const verifier = randomPKCECodeVerifier();
    const flow = { business, state: randomState(), nonce: randomNonce(), verifier, to };
    const value = Buffer.from(JSON.stringify(flow)).toString("base64url");
    writeCookie(c, this.#context, COOKIE, value, FLOW_SECONDS);
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.#context.publicUrl()}${CALLBACK}`,
      scope: SCOPE,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      // `max_age` makes the provider say when the person signed in.
      max_age: again ? "0" : String(SESSION_HOURS * 3_600),
      ...(again ? { prompt: "login" } : {}),
    });
    return c.redirect(url.href, 302);
  }

  /**
   * Returns the person that the provider sent back.
   *
   * @throws GatewayError 401 if the provider doesn't vouch for anyone, or the sign-in began in
   * another browser
   */
  async finish(c: Context): Promise<Vouched> {
    const flow = this.#flowOf(c);
    dropCookie(c, this.#context, COOKIE);
    if (flow === undefined) throw refused("it took too long, or began in another browser");
    const configuration = await this.#configurationOf(this.#providerOf(flow.business));
    const answer = new URL(`${this.#context.publicUrl()}${CALLBACK}`);
    answer.search = new URL(c.req.url).search;
    try {
      const tokens = await authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: flow.verifier,
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        idTokenExpected: true,
        maxAge: SESSION_HOURS * 3_600,
      });
      const { iss, sub, auth_time } = tokens.claims() ?? {};
      if (iss === undefined || sub === undefined || auth_time === undefined) {
        throw refused("the provider doesn't say who it was, and when");
      }
      const to = ownPath(flow.to);
      return { issuer: iss, subject: sub, signedInAtMs: auth_time * 1000, to };
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      this.#context.log.warn("a sign-in at a provider failed", {
        business: flow.business,
        reason: reasonOf(error),
      });
      throw refused("the provider's answer proves nothing; the gateway's log says why");
    }
  }

  #flowOf(c: Context): z.output<typeof Flow> | undefined {
    const value = readCookie(c, this.#context, COOKIE) ?? "";
    try {
      const text = Buffer.from(value, "base64url").toString();
      return Flow.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  #providerOf(business: string): IdentityProvider {
    const provider = this.#context.profiles.get(business)?.signIn?.provider;
    if (provider !== undefined) return provider;
    throw new GatewayError("not_found", "No provider of that business signs people in here.");
  }

  async #configurationOf(provider: IdentityProvider): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = provider;
    const key = JSON.stringify(provider);
    const known = this.#known.get(key);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.at < CONFIGURATION_MS) return known.configuration;
    try {
      const url = new URL(issuer);
      const configuration = await discovery(url, clientId, clientSecret, undefined, {
        timeout: TIMEOUT_SECONDS,
        [customFetch]: throughWays,
        // Only a provider on this machine may have an http address; the settings check that.
        execute: url.protocol === "http:" ? [allowInsecureRequests] : [],
      });
      this.#known.set(key, { at: nowMs, configuration });
      return configuration;
    } catch (error) {
      this.#context.log.warn("a provider can't be asked", { issuer, reason: reasonOf(error) });
      throw new GatewayError(
        "provider_unreachable",
        `${url(issuer)} can't be reached to sign you in: try again, or take a link (payrun login).`,
      );
    }
  }
}

const ways = new WaysOut();

const throughWays: CustomFetch = async (to, { method, headers, redirect, body, signal }) => {
  const sent = {
    method,
    headers,
    redirect,
    dispatcher: ways.to(to),
    signal: signal ?? null,
    body: (body ?? null) as BodyInit | null,
  };
  const answer = await fetch(to, sent);
  // The two kinds of response differ in their types alone.
  return answer as unknown as Response;
};

const url = (issuer: string) => new URL(issuer).host;

function refused(why: string): GatewayError {
  return new GatewayError("sign_in_refused", `You are not signed in: ${why}. Start again.`);
}
