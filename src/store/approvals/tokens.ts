import {
  tokenConfirmed,
  tokenCreated,
  tokenRenewed,
  tokenRevoked,
} from "../../domain/facts/access.ts";
import type { Head } from "../../domain/facts/fact.ts";
import { record } from "../facts/record.ts";
import { isoInstant } from "../../domain/clock/instants.ts";
import { type Author, kindOfAuthor, nameOfAuthor, SystemAuthor } from "../../contracts/authors.ts";
import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { DAY_MS } from "../../contracts/durations.ts";
import { isOtherOfOneLook, principalOf } from "../../contracts/principal.ts";
import { TOKEN_DAYS, tokenProblem, type TokenView } from "../../domain/approvals/token.ts";
import { STORE_TRAIL } from "../audit/audit.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findAll, findOne } from "../sql/records.ts";
import type { Store } from "../sql/store.ts";
import type { Tables } from "../schema/tables.ts";
import { hashOfSecret, newSecret } from "./secrets.ts";
import { endSessionsOfToken } from "./sessions.ts";
import { lastUses } from "./uses.ts";

/** A token of the gateway, without its secret, which is stored nowhere. */
export type Token = Omit<RecordOf<"tokens">, "tokenHash">;

export interface NewToken {
  readonly name: string;
  readonly roles: readonly string[];
  /** Names of profiles; by default all of them. */
  readonly businesses?: readonly string[] | null | undefined;
  /** By default 90 days from now. */
  readonly expiresAtMs?: number | undefined;
  /** Who creates it, by the name of their own token. */
  readonly createdBy: Author;
  readonly nowMs: number;
}

/** Who does something to a token, and when. */
interface Deed {
  readonly by: Author;
  readonly nowMs: number;
}

/** The name of a token that is to be made looks like that of somebody else. */
export class LookAlikeError extends Error {
  override readonly name = "LookAlikeError";

  constructor(name: string, other: string) {
    super(
      `“${name}” looks like “${other}”, who is somebody else: use a name that can be told apart`,
    );
  }
}

/**
 * Makes a token of 256 random bits, and records it in the store's own trail: a token may act for
 * several businesses.
 *
 * @param others names of people who decide without a token: of signers and identities
 * @returns `token` in clear text, only this once: the store keeps only its SHA-256
 * @throws LookAlikeError if the name looks like that of another person
 */
export async function createToken(
  store: Pick<Store, "transactionOf">,
  token: NewToken,
  others: readonly string[] = [],
): Promise<{ tokenId: string; token: string }> {
  return store.transactionOf(STORE_TRAIL, async (trx) => {
    const names = [...others, ...(await listTokens(trx)).map(({ name }) => name)];
    const other = names.find((name) => isOtherOfOneLook(name, token.name));
    if (other !== undefined) throw new LookAlikeError(token.name, other);
    return insertToken(trx, token);
  });
}

/** Who makes and confirms the first tokens: a person with access to the store's host. */
const BOOTSTRAP = new SystemAuthor("payrun token bootstrap");

/**
 * Makes two administrators: the first ones of a store, on whose word others are made.
 *
 * @returns undefined if an administrator's token is valid already
 */
export async function createFirstTokens(
  store: Pick<Store, "transactionOf">,
  names: readonly [string, string],
  nowMs: number,
): Promise<{ tokenId: string; token: string; name: string }[] | undefined> {
  return store.transactionOf(STORE_TRAIL, async (trx) => {
    const known = await listTokens(trx);
    const isThere = known.some(
      ({ roles, confirmedAtMs, revokedAtMs, expiresAtMs }) =>
        roles.includes("admin") &&
        confirmedAtMs !== null &&
        revokedAtMs === null &&
        expiresAtMs > nowMs,
    );
    if (isThere) return undefined;
    const made = [];
    for (const name of names) {
      const token = await insertToken(trx, { name, roles: ["admin"], createdBy: BOOTSTRAP, nowMs });
      await confirmToken(trx, { tokenId: token.tokenId, name }, { by: BOOTSTRAP, nowMs });
      made.push({ ...token, name });
    }
    return made;
  });
}

async function insertToken(
  trx: Transaction<Tables>,
  token: NewToken,
): Promise<{ tokenId: string; token: string }> {
  const tokenId = `tok_${randomUUID()}`;
  const secret = newSecret("payrun_");
  const { name, roles, businesses = null, createdBy } = token;
  const nowMs = Math.floor(token.nowMs);
  const expiresAtMs = token.expiresAtMs ?? nowMs + TOKEN_DAYS * DAY_MS;
  await trx
    .insertInto("tokens")
    .values(
      asColumns({
        tokenId,
        name,
        tokenHash: hashOfSecret(secret),
        roles,
        businesses,
        expiresAtMs,
        createdBy: nameOfAuthor(createdBy),
        createdByKind: kindOfAuthor(createdBy),
        principal: principalOf(name),
        createdAtMs: nowMs,
        maker: typeof createdBy === "string" ? principalOf(createdBy) : null,
      }),
    )
    .execute();
  const details = { name, roles, businesses, expiresAtMs, secret: fingerprintOf(secret) };
  await record(trx, tokenCreated(headOf(tokenId, { by: createdBy, nowMs }), details));
  return { tokenId, token: secret };
}

/** Records that a second person confirms that a token belongs to the person whom it names. */
export async function confirmToken(
  trx: Transaction<Tables>,
  { tokenId, name }: Pick<Token, "tokenId" | "name">,
  deed: Deed,
): Promise<void> {
  const { by, nowMs } = deed;
  const confirmedBy = { confirmedBy: nameOfAuthor(by), confirmedByKind: kindOfAuthor(by) };
  const change = { confirmedAtMs: nowMs, ...confirmedBy };
  const done = await changeRecords(trx, "tokens", { tokenId, confirmedAtMs: null }, change);
  if (done > 0) await record(trx, tokenConfirmed(headOf(tokenId, deed), { name }));
}

/**
 * Gives a token a new secret: the old one, which the token's maker has seen, opens nothing any
 * more, and sessions and links that were made with it end.
 */
export async function renewToken(
  trx: Transaction<Tables>,
  { tokenId, name }: Pick<Token, "tokenId" | "name">,
  nowMs: number,
): Promise<string> {
  const secret = newSecret("payrun_");
  await changeRecords(trx, "tokens", { tokenId }, { tokenHash: hashOfSecret(secret) });
  await endSessionsOfToken(trx, tokenId, { by: name, nowMs });
  const head = headOf(tokenId, { by: name, nowMs });
  await record(trx, tokenRenewed(head, { name, secret: fingerprintOf(secret) }));
  return secret;
}

/** Returns what the trail says of a secret: the hash of the hash that the store has. */
function fingerprintOf(secret: string): string {
  return hashOfSecret(hashOfSecret(secret));
}

/** Returns the token with this text if it was made here, even if it has expired or was revoked. */
export async function findToken(db: Db, token: string): Promise<Token | undefined> {
  return withoutHash(await findOne(db, "tokens", { tokenHash: hashOfSecret(token) }));
}

/** Returns the token with this id, even if it has expired or was revoked. */
export async function getToken(db: Db, tokenId: string): Promise<Token | undefined> {
  return withoutHash(await findOne(db, "tokens", { tokenId }));
}

/** Returns all tokens, first made first, including expired and revoked ones. */
export async function listTokens(db: Db): Promise<Token[]> {
  const found = await findAll(db, "tokens", {}, ["created_at_ms", "token_id"]);
  return found.flatMap((token) => withoutHash(token) ?? []);
}

/** Revokes a token at once; false if there is none, or if it was revoked before. */
export async function revokeToken(
  store: Pick<Store, "transactionOf">,
  tokenId: string,
  deed: Deed,
): Promise<boolean> {
  return store.transactionOf(STORE_TRAIL, async (trx) => {
    const known = await getToken(trx, tokenId);
    if (known === undefined || known.revokedAtMs !== null) return false;
    await changeRecords(trx, "tokens", { tokenId }, { revokedAtMs: Math.floor(deed.nowMs) });
    await endSessionsOfToken(trx, tokenId, deed);
    await record(trx, tokenRevoked(headOf(tokenId, deed), { name: known.name }));
    return true;
  });
}

/** Returns all tokens as people see them, first made first; never their secrets. */
export async function viewTokens(
  db: Db,
  now: { readonly nowMs: number; readonly sandboxesOnly: boolean },
): Promise<TokenView[]> {
  const uses = await lastUses(db);
  return (await listTokens(db)).map((token) => ({
    id: token.tokenId,
    name: token.name,
    roles: [...token.roles],
    businesses: token.businesses === null ? null : [...token.businesses],
    state: tokenProblem(token, now) ?? "valid",
    createdBy: token.createdBy,
    createdAt: isoInstant(token.createdAtMs),
    confirmedBy: token.confirmedBy,
    confirmedAt: token.confirmedAtMs === null ? null : isoInstant(token.confirmedAtMs),
    expiresAt: isoInstant(token.expiresAtMs),
    revokedAt: token.revokedAtMs === null ? null : isoInstant(token.revokedAtMs),
    lastUsedAt: isoOf(uses.get(token.tokenId)),
  }));
}

const isoOf = (ms: number | undefined) => (ms === undefined ? null : isoInstant(ms));

function headOf(subject: string, { by, nowMs }: Deed): Head {
  return { businessId: STORE_TRAIL, nowMs, by, subject };
}

function withoutHash(found: RecordOf<"tokens"> | undefined): Token | undefined {
  if (found === undefined) return undefined;
  const { tokenHash: _, ...token } = found;
  return token;
}
