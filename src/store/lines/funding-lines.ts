import type { LineReason } from "../../contracts/reason-codes.ts";
import type { Transaction } from "kysely";
import { LINE } from "../../contracts/line-states.ts";
import type { SourceUse } from "../../domain/notices/source-texts.ts";
import { recordMoves } from "../facts/record-moves.ts";
import { CENTS, chunks, COUNT } from "../sql/db.ts";
import { changeRecords } from "../sql/records.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import type { Tables } from "../schema/tables.ts";

/** An approved line whose money has not been found yet. */
export type UnfundedLine = Pick<RunLine, "payableId" | "amountCents">;

/** Sums a run's approved lines that have no money yet, by funding source. */
export async function unfundedBySource(
  trx: Transaction<Tables>,
  runId: string,
): Promise<{ readonly sourceId: string; readonly cents: number }[]> {
  const rows = await trx
    .selectFrom("run_lines")
    .select(["source_id", CENTS])
    .where("run_id", "=", runId)
    .where("state", "=", "planned")
    .where("funded", "=", 0)
    .groupBy("source_id")
    .execute();
  return rows.map(toRunLine);
}

/** Returns the lines of one source that have no money yet, the most urgent first. */
export async function unfundedLines(
  trx: Transaction<Tables>,
  runId: string,
  sourceId: string,
): Promise<UnfundedLine[]> {
  const rows = await trx
    .selectFrom("run_lines")
    .select(["payable_id", "amount_cents"])
    .where("run_id", "=", runId)
    .where("state", "=", "planned")
    .where("funded", "=", 0)
    .where("source_id", "=", sourceId)
    .orderBy("execution_date")
    .orderBy("amount_cents")
    .orderBy("line_no")
    .execute();
  return rows.map(toRunLine);
}

/** Marks all lines of a source as funded; returns how many there were. */
export async function fundSource(
  trx: Transaction<Tables>,
  source: { readonly runId: string; readonly sourceId: string; readonly nowMs: number },
): Promise<number> {
  const { runId, sourceId, nowMs: updatedAtMs } = source;
  const unfunded = { runId, sourceId, state: "planned", funded: false } as const;
  return changeRecords(trx, "run_lines", unfunded, { funded: true, updatedAtMs });
}

/** Marks these lines as funded. */
export async function fundLines(
  trx: Transaction<Tables>,
  funded: {
    readonly runId: string;
    readonly lines: readonly UnfundedLine[];
    readonly nowMs: number;
  },
): Promise<void> {
  for (const some of chunks(funded.lines)) {
    await trx
      .updateTable("run_lines")
      .set({ funded: 1, updated_at_ms: funded.nowMs })
      .where("run_id", "=", funded.runId)
      .where(
        "payable_id",
        "in",
        some.map(({ payableId }) => payableId),
      )
      .execute();
  }
}

/**
 * Takes back the money of lines that are to be paid from a source and for which nothing has begun.
 */
export async function unfundSource(
  trx: Transaction<Tables>,
  source: { readonly businessId: string; readonly sourceId: string; readonly nowMs: number },
): Promise<void> {
  const { businessId, sourceId, nowMs: updatedAtMs } = source;
  const funded = { businessId, sourceId, state: "planned", funded: true } as const;
  await changeRecords(trx, "run_lines", funded, { funded: false, updatedAtMs });
}

/** Sums the bills that runs pay from a source and that have not ended, by run and state. */
export async function usesOfSource(
  trx: Transaction<Tables>,
  source: { readonly businessId: string; readonly sourceId: string },
): Promise<SourceUse[]> {
  const rows = await trx
    .selectFrom("run_lines")
    .select(["run_id", "state", COUNT, CENTS])
    .where("business_id", "=", source.businessId)
    .where("source_id", "=", source.sourceId)
    .where("state", "not in", LINE.ended)
    .groupBy(["run_id", "state"])
    .orderBy("run_id")
    .orderBy("state")
    .execute();
  return rows.map(toRunLine);
}

/** Records on lines that there is no money for them now; `parked` leaves them to a person. */
export async function markShort(
  trx: Transaction<Tables>,
  short: {
    readonly runId: string;
    readonly businessId: string;
    readonly lines: readonly UnfundedLine[];
    readonly parked: boolean;
    readonly reason: string;
    readonly nowMs: number;
  },
): Promise<void> {
  for (const some of chunks(short.lines)) {
    const rows = await trx
      .updateTable("run_lines")
      .set({
        ...(short.parked ? { state: "parked" } : {}),
        reason_code: SHORT,
        reason: short.reason,
        updated_at_ms: short.nowMs,
      })
      .where("run_id", "=", short.runId)
      .where(
        "payable_id",
        "in",
        some.map(({ payableId }) => payableId),
      )
      // A line that has this reason already keeps the instant since which it has waited.
      .where((eb) => eb.or([eb("reason", "is", null), eb("reason", "!=", short.reason)]))
      .returning(["payable_id", "line_no"])
      .execute();
    if (short.parked) await recordMoves(trx, short, "parked", rows, { reasonCode: SHORT });
  }
}

const SHORT = "funding_short" satisfies LineReason;
