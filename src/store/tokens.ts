import { createHash, randomBytes, randomUUID } from "node:crypto";
import { appendAudit, STORE_TRAIL } from "./audit.ts";
import { asColumns, type RecordOf } from "./as-record.ts";
import type { Db } from "./db.ts";
import { findAll, findOne } from "./records.ts";
import type { Store } from "./store.ts";

/** A token of the gateway, without its secret, which is stored nowhere. */
export type Token = Omit<RecordOf<"tokens">, "tokenHash">;

/**
 * Makes a token of 256 random bits, and says so in the store's own trail: tokens act for every
 * business.
 *
 * @returns `token` in clear, this once: the store keeps its SHA-256 only.
 */
export async function createToken(
  store: Pick<Store, "transactionOf">,
  token: {
    readonly name: string;
    readonly roles: readonly string[];
    readonly expiresAtMs?: number | undefined;
    readonly createdBy: string;
    readonly nowMs: number;
  },
): Promise<{ tokenId: string; token: string }> {
  const tokenId = `tok_${randomUUID()}`;
  const secret = `payrun_${randomBytes(32).toString("base64url")}`;
  const { name, roles, createdBy, nowMs, expiresAtMs = null } = token;
  await store.transactionOf(STORE_TRAIL, async (trx) => {
    await trx
      .insertInto("tokens")
      .values(
        asColumns({
          ...{ tokenId, name, tokenHash: hashOf(secret), roles },
          ...{ createdAtMs: Math.floor(nowMs), createdBy, expiresAtMs },
        }),
      )
      .execute();
    await appendAudit(trx, {
      businessId: STORE_TRAIL,
      nowMs,
      actor: createdBy,
      action: "token.created",
      subject: tokenId,
      details: { name, roles, expiresAtMs },
    });
  });
  return { tokenId, token: secret };
}

/** Whose token this is; undefined where it is unknown, expired or revoked. */
export async function findToken(db: Db, token: string, nowMs: number): Promise<Token | undefined> {
  const found = await anyToken(db, token);
  if (found === undefined || found.revokedAtMs !== null) return undefined;
  return (found.expiresAtMs ?? Infinity) > nowMs ? found : undefined;
}

/** A token that was made here, whatever has become of it; undefined for every other text. */
export async function anyToken(db: Db, token: string): Promise<Token | undefined> {
  const found = await findOne(db, "tokens", { tokenHash: hashOf(token) });
  return found === undefined ? undefined : withoutHash(found);
}

/** All tokens, first made first, expired and revoked ones too. */
export async function listTokens(db: Db): Promise<Token[]> {
  return (await findAll(db, "tokens", {}, ["created_at_ms", "token_id"])).map(withoutHash);
}

/** Ends a token at once; false where there is none, or it was revoked before. */
export async function revokeToken(
  store: Pick<Store, "transactionOf">,
  tokenId: string,
  { by, nowMs }: { readonly by: string; readonly nowMs: number },
): Promise<boolean> {
  return store.transactionOf(STORE_TRAIL, async (trx) => {
    const revoked = await trx
      .updateTable("tokens")
      .set({ revoked_at_ms: nowMs })
      .where("token_id", "=", tokenId)
      .where("revoked_at_ms", "is", null)
      .returning("name")
      .executeTakeFirst();
    if (revoked === undefined) return false;
    await appendAudit(trx, {
      businessId: STORE_TRAIL,
      nowMs,
      actor: by,
      action: "token.revoked",
      subject: tokenId,
      details: { name: revoked.name },
    });
    return true;
  });
}

/**
 * Tokens that `name` made at or after an instant, and those made with these in turn: none of them
 * may approve what `name` launched.
 */
export async function tokensCreatedBy(db: Db, name: string, afterMs: number): Promise<Token[]> {
  const found = new Map<string, Token>();
  const makers = [name];
  const asked = new Set<string>();
  for (let maker = makers.pop(); maker !== undefined; maker = makers.pop()) {
    if (asked.has(maker)) continue;
    asked.add(maker);
    const made = await findAll(db, "tokens", { createdBy: maker }, ["token_id"]);
    for (const token of made.filter(({ createdAtMs }) => createdAtMs >= afterMs)) {
      found.set(token.tokenId, withoutHash(token));
      makers.push(token.name);
    }
  }
  return [...found.values()];
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function withoutHash({ tokenHash: _, ...token }: RecordOf<"tokens">): Token {
  return token;
}
