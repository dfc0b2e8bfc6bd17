import type { PlanLine } from "../../contracts/pay-run.ts";
import { ENDED_LINE_STATES } from "../../contracts/pay-run.ts";
import { CENTS, COUNT, type Db } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import type { PlannedLine } from "./plan-lines.ts";
import { toRunLine, type RunLine } from "./lines.ts";

/** Phase of a retry that has ended: its bill is in nobody's hands. */
const RETRY_ENDED = "ended";

/** True where the retry of a parked line has given its bill back for the next run. */
export function isGivenBack(
  line: Pick<RunLine, "state" | "runId"> | undefined,
  retry: { readonly runId: string | null; readonly phase: string } | undefined,
): boolean {
  return line?.state === "parked" && retry?.runId === line.runId && retry.phase === RETRY_ENDED;
}

/**
 * Lines of a business that a person must act on: those that stand for their bills now, not what a
 * run had parked before a later one took it up, nor what was given back for the next run.
 */
function parkedNow(db: Db, businessId: string) {
  return db
    .selectFrom("run_lines")
    .where("run_lines.business_id", "=", businessId)
    .where(is("run_lines.state", "parked"))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("retries")
            .select("retries.workflow_id")
            .whereRef("retries.business_id", "=", "run_lines.business_id")
            .whereRef("retries.payable_id", "=", "run_lines.payable_id")
            .whereRef("retries.run_id", "=", "run_lines.run_id")
            .where("retries.phase", "=", RETRY_ENDED),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("run_lines as other")
            .select("other.run_id")
            .whereRef("other.business_id", "=", "run_lines.business_id")
            .whereRef("other.payable_id", "=", "run_lines.payable_id")
            .whereRef("other.run_id", "!=", "run_lines.run_id")
            .where((of) =>
              of.or([
                of("other.state", "not in", ENDED_LINE_STATES),
                of("other.updated_at_ms", ">", of.ref("run_lines.updated_at_ms")),
              ]),
            ),
        ),
      ),
    );
}

export async function sumOfParked(
  db: Db,
  businessId: string,
): Promise<{ readonly count: number; readonly cents: number }> {
  const row = await parkedNow(db, businessId).select([COUNT, CENTS]).executeTakeFirstOrThrow();
  return { count: Number(row.count), cents: Number(row.cents ?? 0) };
}

/** They themselves, by cause, the largest first. */
export async function parkedLines(
  db: Db,
  businessId: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<PlannedLine[]> {
  const rows = await parkedNow(db, businessId)
    .innerJoin("plan_lines", (join) =>
      join
        .onRef("plan_lines.run_id", "=", "run_lines.run_id")
        .onRef("plan_lines.payable_id", "=", "run_lines.payable_id")
        .onRef("plan_lines.version", "=", "run_lines.version"),
    )
    .select("plan_lines.line")
    .selectAll("run_lines")
    .orderBy("run_lines.reason_code")
    .orderBy("run_lines.amount_cents", "desc")
    .orderBy("run_lines.payable_id")
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows.map((row) => ({ plan: JSON.parse(row.line) as PlanLine, line: toRunLine(row) }));
}

/** Payables with a line that is parked for one reason, in the order of their ids. */
export async function parkedFor(
  db: Db,
  wanted: {
    readonly businessId: string;
    readonly reasonCode: string;
    /** Only payables behind this one. */
    readonly after: string;
    readonly limit: number;
  },
): Promise<string[]> {
  const rows = await db
    .selectFrom("run_lines")
    .select("payable_id")
    .distinct()
    .where("business_id", "=", wanted.businessId)
    .where(is("state", "parked"))
    .where("reason_code", "=", wanted.reasonCode)
    .where("payable_id", ">", wanted.after)
    .orderBy("payable_id")
    .limit(wanted.limit)
    .execute();
  return rows.map((row) => row.payable_id);
}
