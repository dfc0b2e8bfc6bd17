import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { likePattern } from "./contact-operations.ts";

/** A shorter text has no three characters to look up; it is found by reading every bill. */
const SHORTEST_INDEXED = 3;

/**
 * An index over every three characters of the bills' texts, kept up to date by triggers: reading
 * 100,000 bills for a search takes longer than a page may. A database that is older than the index
 * is indexed once.
 */
export const payableSearchDdl = `
CREATE VIRTUAL TABLE IF NOT EXISTS payable_texts USING fts5(
  public_id, custom_number, description,
  content = 'payables', content_rowid = 'seq', tokenize = 'trigram'
);
INSERT INTO payable_texts (payable_texts)
  SELECT 'rebuild' WHERE EXISTS (SELECT 1 FROM payables)
    AND NOT EXISTS (SELECT 1 FROM payable_texts_docsize);
CREATE INDEX IF NOT EXISTS payables_contact ON payables (contact_id, seq);

CREATE TRIGGER IF NOT EXISTS payables_text_inserted AFTER INSERT ON payables
BEGIN
  INSERT INTO payable_texts (rowid, public_id, custom_number, description)
    VALUES (NEW.seq, NEW.public_id, NEW.custom_number, NEW.description);
END;
CREATE TRIGGER IF NOT EXISTS payables_text_changed
AFTER UPDATE OF public_id, custom_number, description ON payables
BEGIN
  INSERT INTO payable_texts (payable_texts, rowid, public_id, custom_number, description)
    VALUES ('delete', OLD.seq, OLD.public_id, OLD.custom_number, OLD.description);
  INSERT INTO payable_texts (rowid, public_id, custom_number, description)
    VALUES (NEW.seq, NEW.public_id, NEW.custom_number, NEW.description);
END;
`;

/** Rebuilds the index after bills were deleted all at once, and so forgets their texts. */
export function forgetPayableTexts(db: DatabaseSync): void {
  db.exec("INSERT INTO payable_texts (payable_texts) VALUES ('rebuild')");
}

/**
 * Returns the condition that a bill's numbers, description or vendor's name contain a literal text.
 */
export function searchCondition(
  businessId: string,
  search: string,
): { where: string; values: SQLInputValue[] } {
  const pattern = likePattern(search);
  const byVendor = `SELECT seq FROM payables WHERE contact_id IN (
    SELECT id FROM contacts WHERE business_id = ? AND display_name LIKE ? ESCAPE '\\')`;
  const vendorValues = [businessId, pattern];
  if (Array.from(search).length < SHORTEST_INDEXED) {
    const columns = ["public_id", "custom_number", "description"];
    const matches = columns.map((column) => `${column} LIKE ? ESCAPE '\\'`).join(" OR ");
    return {
      where: `(${matches} OR seq IN (${byVendor}))`,
      values: [...columns.map(() => pattern), ...vendorValues],
    };
  }
  return {
    where: `seq IN (SELECT rowid FROM payable_texts WHERE payable_texts MATCH ? UNION ${byVendor})`,
    values: [`"${search.replaceAll('"', '""')}"`, ...vendorValues],
  };
}
