import { sessionUsed, tokenUsed } from "../../domain/facts/access.ts";
import { record } from "../facts/record.ts";
import { STORE_TRAIL } from "../audit/audit.ts";
import type { Transaction } from "kysely";
import type { Tables } from "../schema/tables.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findAll, findOne } from "../sql/records.ts";
import type { Store } from "../sql/store.ts";

/** What a caller identifies itself with: a token, or a session. */
export interface CredentialShown {
  /** `tok_…` or `ses_…`. */
  readonly id: string;
  readonly name: string;
}

/**
 * The most addresses that are recorded separately for one token or session, so that a caller with
 * many addresses fills neither the table nor the trail.
 */
const ADDRESSES_MOST = 100;
const OTHERS = "others";

interface Use {
  readonly address: string;
  readonly nowMs: number;
  /**
   * Writes the notice for a token's holder: its first use from an address from which none of
   * theirs was used.
   */
  readonly onNewAddress?: (trx: Transaction<Tables>, token: HeldToken) => Promise<void>;
}

/** A token, for its holder. */
export type HeldToken = Pick<RecordOf<"tokens">, "tokenId" | "name" | "principal" | "businesses">;

/**
 * Records the address from which a token or a session was used; the first time, also in the trail.
 */
export async function noteUse(
  store: Pick<Store, "db" | "transactionOf">,
  { id: tokenId, name }: CredentialShown,
  { address: from, nowMs, onNewAddress }: Use,
): Promise<void> {
  const known = await findAll(store.db, "token_uses", { tokenId }, ["first_at_ms"]);
  const isKnown = known.some(({ address }) => address === from);
  const address = isKnown || known.length < ADDRESSES_MOST ? from : OTHERS;
  const seen = { lastAtMs: Math.floor(nowMs) };
  if ((await changeRecords(store.db, "token_uses", { tokenId, address }, seen)) > 0) return;
  await store.transactionOf(STORE_TRAIL, async (trx) => {
    const held = onNewAddress && (await tokenBehind(trx, tokenId));
    const isNew = held !== undefined && !(await isKnownAddress(trx, held, address));
    const use = asColumns({ tokenId, address, firstAtMs: seen.lastAtMs, ...seen });
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("token_uses")
      .values(use)
      .onConflict((row) => row.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return;
    const used = tokenId.startsWith("ses_") ? sessionUsed : tokenUsed;
    const head = { businessId: STORE_TRAIL, nowMs, by: name, subject: tokenId };
    await record(trx, used(head, { name, from: address }));
    if (isNew) await onNewAddress?.(trx, held);
  });
}

/** Returns the token that was shown, or that a session stands for; undefined without a token. */
async function tokenBehind(db: Db, shownId: string): Promise<HeldToken | undefined> {
  const session = await findOne(db, "sessions", { sessionId: shownId });
  const tokenId = session === undefined ? shownId : session.tokenId;
  return tokenId === null ? undefined : findOne(db, "tokens", { tokenId });
}

/** True if a token of this person, or a session for one, was used from an address before. */
async function isKnownAddress(db: Db, { principal }: HeldToken, address: string): Promise<boolean> {
  const used = await db
    .selectFrom("token_uses")
    .leftJoin("sessions", "sessions.session_id", "token_uses.token_id")
    .innerJoin("tokens", (join) =>
      join.on((eb) =>
        eb("tokens.token_id", "=", eb.fn.coalesce("sessions.token_id", "token_uses.token_id")),
      ),
    )
    .select("tokens.token_id")
    .where("token_uses.address", "=", address)
    .where("tokens.principal", "=", principal)
    .executeTakeFirst();
  return used !== undefined;
}

/** Returns when each token and session was last used; those that never were are not in the map. */
export async function lastUses(db: Db): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("token_uses")
    .select((of) => ["token_id", of.fn.max("last_at_ms").as("last_at_ms")])
    .groupBy("token_id")
    .execute();
  return new Map(rows.map((row) => [row.token_id, Number(row.last_at_ms)]));
}
