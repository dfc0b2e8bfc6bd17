import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jwtVerify, SignJWT } from "jose";
import type { SandboxContext } from "../context.ts";
import { businessById } from "../resources/businesses.ts";
import type { TokenHolder } from "./operation.ts";

/**
 * Every permission that a token can carry; section 5 names some of them, the rest follow its
 * pattern.
 */
export const allScopes = [
  "payments:initiate",
  "payments:read",
  "payables:read",
  "payables:write",
  "contacts:read",
  "contacts:write",
  "bank-accounts:read",
  "bank-accounts:write",
  "balance:read",
  "balance:write",
  "invoices:read",
  "invoices:write",
  "webhooks:read",
  "webhooks:manage",
  "businesses:read",
  "businesses:write",
] as const;

const defaultLifetimeSeconds = 3_600;
const knownTokensLimit = 5_000;

interface Known {
  caller: TokenHolder;
  expiresAtMs: number;
}

/** Makes and checks the service's bearer tokens: JWTs that expire on the wire clock. */
export class Tokens {
  readonly #ctx: SandboxContext;
  readonly #secret: Uint8Array;
  readonly #known = new Map<string, Known>();

  constructor(ctx: SandboxContext) {
    this.#ctx = ctx;
    this.#secret = loadSecret(join(ctx.dataDir, "token-secret"));
  }

  /** Returns a token of a business; by default it has all scopes and lives for an hour. */
  async mint(
    businessId: string,
    scopes: readonly string[] = allScopes,
    expiresInSeconds = defaultLifetimeSeconds,
  ): Promise<string> {
    const issuedAt = Math.floor(this.#ctx.clock.wireNow() / 1_000);
    return new SignJWT({
      businessId,
      organizationId: businessById(this.#ctx.db, businessId)?.organization_id,
      scopes: [...scopes],
    })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setSubject(businessId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + expiresInSeconds)
      .setJti(randomBytes(8).toString("hex"))
      .sign(this.#secret);
  }

  /**
   * Returns the caller that an `Authorization` header identifies; undefined if it is missing,
   * malformed or expired.
   */
  async check(authorization: string | undefined): Promise<TokenHolder | undefined> {
    const token = /^Bearer ([\w.~+/=-]+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) return undefined;
    const known = this.#known.get(token) ?? (await this.#verify(token));
    if (known === undefined || known.expiresAtMs <= this.#ctx.clock.wireNow()) return undefined;
    const business = businessById(this.#ctx.db, known.caller.businessId);
    return business === undefined ? undefined : known.caller;
  }

  async #verify(token: string): Promise<Known | undefined> {
    try {
      const { payload } = await jwtVerify(token, this.#secret, {
        algorithms: ["HS256"],
        requiredClaims: ["exp", "businessId", "scopes"],
        currentDate: new Date(this.#ctx.clock.wireNow()),
      });
      const { businessId, scopes, exp } = payload;
      if (typeof businessId !== "string" || !Array.isArray(scopes)) return undefined;
      const known: Known = {
        caller: { businessId, scopes: new Set(scopes.map(String)) },
        expiresAtMs: (exp ?? 0) * 1_000,
      };
      if (this.#known.size >= knownTokensLimit) this.#known.clear();
      this.#known.set(token, known);
      return known;
    } catch {
      return undefined;
    }
  }
}

function loadSecret(path: string): Uint8Array {
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString("hex"), { mode: 0o600 });
  return Buffer.from(readFileSync(path, "utf8"), "hex");
}
