import type { ExpressionBuilder, ExpressionWrapper, SqlBool, Transaction } from "kysely";
import { chunks, type Db } from "./db.ts";
import { idsIn } from "./many.ts";
import type { Tables } from "./tables.ts";

/** In place of an instant: the line was not as planned when read by page, so it is read singly. */
export const READ_SINGLY = 1;

/** True for lines that were read since then, and for those that are to be read singly. */
export function isRead(
  eb: ExpressionBuilder<Tables, "run_lines">,
  sinceMs: number,
): ExpressionWrapper<Tables, "run_lines", SqlBool> {
  return eb.or([eb("verified_at_ms", ">=", sinceMs), eb("verified_at_ms", "=", READ_SINGLY)]);
}

/**
 * How many lines wait to be paid that nobody has read since then.
 *
 * @param most counts no further
 */
export async function countUnread(
  db: Db,
  runId: string,
  sinceMs: number,
  most: number,
): Promise<number> {
  const rows = await unread(db, runId, sinceMs).limit(most).execute();
  return rows.length;
}

/** Payables of the lines that wait to be paid and that nobody has read since then. */
export async function listUnread(db: Db, runId: string, sinceMs: number): Promise<string[]> {
  const rows = await unread(db, runId, sinceMs).execute();
  return rows.map((row) => row.payable_id);
}

function unread(db: Db, runId: string, sinceMs: number) {
  return db
    .selectFrom("run_lines")
    .select("payable_id")
    .where("run_id", "=", runId)
    .where("state", "=", "planned")
    .where("funded", "=", 1)
    .where((eb) => eb.not(isRead(eb, sinceMs)));
}

/** Notes of lines that wait to be paid when they were read, and what payments there were. */
export async function markRead(
  trx: Transaction<Tables>,
  runId: string,
  lines: readonly {
    readonly payableId: string;
    /** Of the line that was compared; one planned anew meanwhile stays unread. */
    readonly lineHash: string;
    readonly verifiedAtMs: number;
    readonly knownPaymentIds: readonly string[];
  }[],
): Promise<void> {
  const groups = Map.groupBy(lines, ({ verifiedAtMs, knownPaymentIds }) =>
    JSON.stringify([verifiedAtMs, knownPaymentIds]),
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    for (const some of chunks(group)) {
      await trx
        .updateTable("run_lines")
        .set({
          verified_at_ms: first.verifiedAtMs,
          known_payment_ids: JSON.stringify(first.knownPaymentIds),
        })
        .where("run_id", "=", runId)
        .where("payable_id", "in", idsIn(some.map(({ payableId }) => payableId)))
        .where("line_hash", "in", idsIn(some.map(({ lineHash }) => lineHash)))
        .execute();
    }
  }
}
