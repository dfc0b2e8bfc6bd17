import { randomUUID } from "node:crypto";
import type { Db } from "../store/index.ts";
import {
  getVaultRow,
  insertVaultRow,
  rewriteVaultRow,
  type VaultRow,
  vaultRefsNotUnder,
} from "../store/onboarding/vault.ts";
import { type Keyring, VaultError } from "./keyring.ts";

/**
 * Keeps personal data: tax ids, birth dates, documents, account numbers. All other code knows such
 * a value by an opaque reference, which says nothing about it.
 */
export class Vault {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  /**
   * Encrypts a JSON-safe value and keeps it, in the transaction that stores its reference.
   *
   * @returns its reference
   * @throws {VaultError} `no_keys`
   */
  async put(
    db: Db,
    of: { readonly businessId: string; readonly kind: string; readonly nowMs: number },
    value: unknown,
  ): Promise<string> {
    const vaultRef = `vlt_${randomUUID()}`;
    const row = { vaultRef, businessId: of.businessId, kind: of.kind };
    const sealed = this.#keyring.seal(Buffer.from(JSON.stringify(value)), labelOf(row));
    await insertVaultRow(db, { ...row, ...sealed, nowMs: of.nowMs });
    return vaultRef;
  }

  /** @throws {VaultError} if it was deleted, or this process lacks its key */
  async get(db: Db, vaultRef: string): Promise<unknown> {
    const row = await getVaultRow(db, vaultRef);
    if (row === undefined) {
      throw new VaultError("missing", `The vault has no value ${vaultRef} any more.`);
    }
    return JSON.parse(this.#keyring.open(row, labelOf(row)).toString("utf8"));
  }

  /**
   * Encrypts values that are still under older keys with the newest one, so that the older ones can
   * be taken away.
   *
   * @returns how many values that were
   * @throws {VaultError} if an older key is gone already
   */
  async rotate(db: Db, businessId: string): Promise<number> {
    const { current } = this.#keyring;
    if (current === undefined) return 0;
    const vaultRefs = await vaultRefsNotUnder(db, businessId, current);
    for (const vaultRef of vaultRefs) {
      const row = await getVaultRow(db, vaultRef);
      if (row === undefined) continue;
      const label = labelOf(row);
      const sealed = this.#keyring.seal(this.#keyring.open(row, label), label);
      await rewriteVaultRow(db, { vaultRef, ...sealed }, row.keyId);
    }
    return vaultRefs.length;
  }
}

function labelOf({
  vaultRef,
  businessId,
  kind,
}: Pick<VaultRow, "vaultRef" | "businessId" | "kind">) {
  return `payrun-vault-1\n${vaultRef}\n${businessId}\n${kind}`;
}
