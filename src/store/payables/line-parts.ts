import { type SelectQueryBuilder, sql, type SqlBool } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import { type LineParts, partsOf } from "../../domain/payments/line-parts.ts";
import { seenPayments } from "./seen-payments.ts";
import type { Tables } from "../schema/tables.ts";
import type { Db } from "../sql/db.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import { isIn } from "../sql/is-in.ts";

type RunLine = RecordOf<"run_lines">;

const toRunLine = readerOf("run_lines");

/**
 * True for a line with several payments, or with one that is less than the line: the service has
 * split it.
 */
const MAY_BE_IN_PARTS = sql<SqlBool>`(run_lines.payment_ids like '%,%' or (
  run_lines.payment_ids <> '[]' and not ${isIn("run_lines.state", LINE.sent)} and exists (
    select 1 from seen_payments
    where seen_payments.business_id = run_lines.business_id
      and seen_payments.payment_id
        = substr(run_lines.payment_ids, 3, length(run_lines.payment_ids) - 4)
      and seen_payments.amount_cents < run_lines.amount_cents)))`;

type Line = Pick<RunLine, "state" | "amountCents" | "paymentIds">;

/** The parts of a line that has several. */
export interface InParts {
  readonly parts?: LineParts;
}

/**
 * Returns these lines of a business, each with how much of it has settled, is on its way and is
 * open if its state doesn't say so, according to its payments as last seen. Every text that shows
 * these amounts reads them here.
 */
export async function linesWithParts<Some extends Line>(
  db: Db,
  businessId: string,
  lines: readonly Some[],
): Promise<(Some & InParts)[]> {
  const ids = lines.flatMap((line) => (mayBeInParts(line) ? line.paymentIds : []));
  if (ids.length === 0) return [...lines];
  const seen = await seenPayments(db, businessId, ids);
  return lines.map((line) => {
    if (!mayBeInParts(line)) return line;
    const payments = line.paymentIds.flatMap((id) => seen.get(id) ?? []);
    // A payment that has not been seen yet is on its way, and is not an open part.
    if (payments.length < line.paymentIds.length) return line;
    const parts = partsOf(line.amountCents, payments);
    return parts === undefined ? line : { ...line, parts };
  });
}

function mayBeInParts({ state, paymentIds }: Line): boolean {
  return state !== "settled" && paymentIds.length > (LINE.sent.includes(state) ? 1 : 0);
}

/** Does the same for planned lines. */
export async function plannedWithParts<Some extends { readonly line: RunLine }>(
  db: Db,
  businessId: string,
  planned: readonly Some[],
): Promise<(Some & { readonly line: InParts })[]> {
  const lines = await linesWithParts(
    db,
    businessId,
    planned.map(({ line }) => line),
  );
  return planned.map((each, index) => ({ ...each, line: lines[index] ?? each.line }));
}

/** A selection of lines. */
export type Lines = SelectQueryBuilder<Tables, "run_lines", object>;

/** Returns the selected lines that have several parts; few have. */
export async function linesInParts(db: Db, of: (lines: Lines) => Lines) {
  const rows = await of(db.selectFrom("run_lines"))
    .select(["run_lines.business_id", "run_lines.payable_id", "run_lines.execution_date"])
    .select(["run_lines.state", "run_lines.amount_cents", "run_lines.payment_ids"])
    .where("run_lines.state", "!=", "settled")
    .where(MAY_BE_IN_PARTS)
    .execute();
  const byBusiness = Map.groupBy(rows.map(toRunLine), ({ businessId }) => businessId);
  const found = [...byBusiness].map(([businessId, lines]) => linesWithParts(db, businessId, lines));
  return (await Promise.all(found)).flat().filter(({ parts }) => parts !== undefined);
}
