import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { allRows, getRow } from "../db.ts";
import { searchCondition } from "./payable-search.ts";
import { payableListJson, type PayableRow } from "./payables.ts";

/**
 * The number of bills that a business has in each status, kept up to date by triggers: counting
 * them for every page of a list would read all of them. A database that is older than the counts is
 * counted once.
 */
export const payableCountsDdl = `
CREATE TABLE IF NOT EXISTS payable_counts (
  business_id TEXT NOT NULL,
  status TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (business_id, status)
) WITHOUT ROWID;
INSERT INTO payable_counts (business_id, status, n)
  SELECT business_id, status, count(*) FROM payables
  WHERE NOT EXISTS (SELECT 1 FROM payable_counts) GROUP BY business_id, status;

CREATE TRIGGER IF NOT EXISTS payables_inserted AFTER INSERT ON payables
BEGIN
  INSERT INTO payable_counts (business_id, status, n) VALUES (NEW.business_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER IF NOT EXISTS payables_moved AFTER UPDATE OF status ON payables
WHEN NEW.status <> OLD.status
BEGIN
  UPDATE payable_counts SET n = n - 1 WHERE business_id = OLD.business_id AND status = OLD.status;
  INSERT INTO payable_counts (business_id, status, n) VALUES (NEW.business_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
`;

export interface PayableFilter {
  status?: string | undefined;
  /**
   * Text to find anywhere in a bill's numbers and description and its vendor's name, taken
   * literally.
   */
  search?: string | undefined;
}

const columns = `bills.id, public_id, bills.business_id, contact_id, bills.status, payment_status,
  total_cents, paid_cents, due_date, issue_date, custom_number, description, bills.created_at`;

/** Returns one page of a business's bills, newest first, and their total count. */
export function payablesPage(
  db: DatabaseSync,
  businessId: string,
  filter: PayableFilter,
  { page, pageSize }: { page: number; pageSize: number },
): { items: Record<string, unknown>[]; totalCount: number } {
  const { where, values } = conditions(businessId, filter);
  // Rows that the page skips are only read in the index: neither the bill nor the vendor is read.
  const rows = allRows<Omit<PayableRow, "items"> & { contact_name: string | null }>(
    db,
    `SELECT ${columns}, contacts.display_name AS contact_name
     FROM (SELECT seq FROM payables WHERE ${where} ORDER BY seq DESC LIMIT ? OFFSET ?) AS page
     JOIN payables AS bills ON bills.seq = page.seq
     LEFT JOIN contacts ON contacts.id = bills.contact_id ORDER BY bills.seq DESC`,
    ...values,
    pageSize,
    (page - 1) * pageSize,
  );
  const items = rows.map((row) => payableListJson(row, row.contact_name));
  return { items, totalCount: countOf(db, businessId, filter) };
}

function countOf(db: DatabaseSync, businessId: string, filter: PayableFilter): number {
  if (isSearch(filter)) {
    const { where, values } = conditions(businessId, filter);
    const sql = `SELECT count(*) AS n FROM payables WHERE ${where}`;
    return getRow<{ n: number }>(db, sql, ...values)?.n ?? 0;
  }
  const counted = getRow<{ n: number | null }>(
    db,
    "SELECT sum(n) AS n FROM payable_counts WHERE business_id = ? AND (? IS NULL OR status = ?)",
    businessId,
    filter.status ?? null,
    filter.status ?? null,
  );
  return counted?.n ?? 0;
}

function conditions(
  businessId: string,
  filter: PayableFilter,
): { where: string; values: SQLInputValue[] } {
  const where = ["business_id = ?"];
  const values: SQLInputValue[] = [businessId];
  if (filter.status !== undefined) {
    where.push("status = ?");
    values.push(filter.status);
  }
  if (isSearch(filter)) {
    const searched = searchCondition(businessId, filter.search ?? "");
    where.push(searched.where);
    values.push(...searched.values);
  }
  return { where: where.join(" AND "), values };
}

function isSearch({ search }: PayableFilter): boolean {
  return search !== undefined && search !== "";
}
