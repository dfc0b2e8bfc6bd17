import type { DatabaseSync } from "node:sqlite";
import { execute, getRow } from "../db.ts";
import { isReturnCode, type PlannedOutcome } from "./planned-outcome.ts";

/** The test numbers of contacts and bank accounts; ordinary numbers are never stored. */
export const magicDdl = `
CREATE TABLE IF NOT EXISTS magic_accounts (
  owner_id TEXT PRIMARY KEY,
  number TEXT NOT NULL
) STRICT;
`;

/** Magic numbers are `000999`, two digits for what happens, and two more digits. */
const magicNumber = /^000999(10|20|30|40)(\d\d)$/;
const mostParts = 20;

/**
 * Stores what the account number of a contact or bank account stands for, in place of an earlier
 * one.
 *
 * @param accountNumber null if there is no account any more.
 */
export function rememberAccountNumber(
  db: DatabaseSync,
  ownerId: string,
  accountNumber: string | null,
): void {
  const isMagic = accountNumber !== null && magicNumber.test(accountNumber);
  const sql = isMagic
    ? "INSERT INTO magic_accounts VALUES (?, ?) ON CONFLICT (owner_id) DO UPDATE SET number = excluded.number"
    : "DELETE FROM magic_accounts WHERE owner_id = ?";
  execute(db, sql, ...(isMagic ? [ownerId, accountNumber] : [ownerId]));
}

/**
 * Returns what the bank does with money from or to this contact or bank account, if its number says
 * so.
 */
export function magicOutcome(db: DatabaseSync, ownerId: string | null): PlannedOutcome | undefined {
  const [kind, digits] = magicOf(db, ownerId);
  const code = `R${digits}`;
  switch (kind) {
    case "10":
      return isReturnCode(code) ? { outcome: "fail", code } : undefined;
    case "20":
      return isReturnCode(code) ? { outcome: "return", code } : undefined;
    case "30":
      return digits === "00"
        ? { outcome: "hold" }
        : { outcome: "hold", after: `P${Number(digits)}D` };
    default:
      return undefined;
  }
}

/**
 * Returns the number of payments into which a payment to this contact is split, whatever its
 * amount; 1 unless its number is magic.
 */
export function magicParts(db: DatabaseSync, contactId: string): number {
  const [kind, digits] = magicOf(db, contactId);
  return kind === "40" ? Math.min(Math.max(Number(digits), 1), mostParts) : 1;
}

function magicOf(db: DatabaseSync, ownerId: string | null): [kind?: string, digits?: string] {
  if (ownerId === null) return [];
  const sql = "SELECT number FROM magic_accounts WHERE owner_id = ?";
  const number = getRow<{ number: string }>(db, sql, ownerId)?.number ?? "";
  const [, kind, digits] = magicNumber.exec(number) ?? [];
  return kind === undefined || digits === undefined ? [] : [kind, digits];
}
