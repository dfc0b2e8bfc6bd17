import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, deleteRecords, findOne } from "../sql/records.ts";

/** A value as the vault keeps it: it can be read only with the key. */
export type VaultRow = Omit<RecordOf<"vault">, "createdAtMs">;

export async function insertVaultRow(
  db: Db,
  { nowMs, ...row }: VaultRow & { readonly nowMs: number },
): Promise<void> {
  await db
    .insertInto("vault")
    .values(asColumns({ ...row, createdAtMs: nowMs }))
    .execute();
}

export function getVaultRow(db: Db, vaultRef: string): Promise<VaultRow | undefined> {
  return findOne(db, "vault", { vaultRef });
}

/**
 * Returns the references of a business's values that are encrypted under another key than this one.
 */
export async function vaultRefsNotUnder(
  db: Db,
  businessId: string,
  keyId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom("vault")
    .select("vault_ref")
    .where("business_id", "=", businessId)
    .where("key_id", "!=", keyId)
    .orderBy("vault_ref")
    .execute();
  return rows.map((row) => row.vault_ref);
}

/** Counts the values that are encrypted under each key. */
export async function vaultCountsByKey(
  db: Db,
): Promise<{ readonly keyId: string; readonly count: number }[]> {
  const rows = await db
    .selectFrom("vault")
    .select(["key_id", (eb) => eb.fn.countAll<number | string>().as("count")])
    .groupBy("key_id")
    .orderBy("key_id")
    .execute();
  return rows.map(({ key_id: keyId, count }) => ({ keyId, count: Number(count) }));
}

/** Replaces an encrypted value, if it is still under the key that it was read with. */
export async function rewriteVaultRow(
  db: Db,
  row: Pick<VaultRow, "vaultRef" | "keyId" | "nonce" | "ciphertext">,
  before: string,
): Promise<void> {
  const { vaultRef, keyId, nonce, ciphertext } = row;
  const read = { vaultRef, keyId: before };
  await changeRecords(db, "vault", read, { keyId, nonce, ciphertext });
}

export async function deleteVaultRows(db: Db, vaultRefs: readonly string[]): Promise<void> {
  if (vaultRefs.length === 0) return;
  await db.deleteFrom("vault").where("vault_ref", "in", vaultRefs).execute();
}

/** Deletes all personal data that is kept of a business. @returns how many values there were */
export async function emptyVault(db: Db, businessId: string): Promise<number> {
  return deleteRecords(db, "vault", { businessId });
}
