import { sql, type Transaction } from "kysely";
import { HOUR_MS } from "../../contracts/durations.ts";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import { isIn } from "../sql/is-in.ts";
import { databaseNowMs } from "../sql/database-clock.ts";
import type { Tables } from "../schema/tables.ts";
import { isFreeAt } from "./lease-columns.ts";
import { IS_UNDECIDED, isUnreadAt } from "./undecided-looks.ts";

/** States of lines whose date is known. */
const PAID_SOME_DAY: readonly LineState[] = [...LINE.leasable, ...LINE.followed];

export interface DueInput {
  readonly runId: string;
  readonly businessMs: number;
  readonly serviceMs: number;
  /** Sources from which nothing is leased now; an empty text blocks all of them. */
  readonly blockedSources: readonly string[];
}

/** What a run has to do now, and when it has more to do: sums over all its lines. */
export interface DueLines {
  readonly toFund: number;
  readonly toPay: number;
  readonly toFollow: number;
  /** Business-clock instant. */
  readonly nextPollMs: number | null;
  /** Service-clock instant. */
  readonly nextLeaseMs: number | null;
  readonly payDate: string | null;
  /** Real instant since which a line has waited for money; null if none waits. */
  readonly shortSinceMs: number | null;
}

export async function dueLines(trx: Transaction<Tables>, input: DueInput): Promise<DueLines> {
  const businessMs = Math.floor(input.businessMs);
  const serviceMs = Math.floor(input.serviceMs);
  const { runId, blockedSources } = input;
  // Leases run on the database's clock.
  const nowMs = await databaseNowMs(trx);
  const leased = isIn("state", LINE.leased);
  const isFree = isFreeAt(nowMs);
  const followed = isIn("state", LINE.sent);
  const ready = sql<boolean>`(state = 'planned' and funded = 1
    or ${leased} and ${isFree})`;
  const blocked = blockedSources.includes("")
    ? sql<boolean>`1 = 1`
    : blockedSources.length === 0
      ? sql<boolean>`1 = 0`
      : sql<boolean>`source_id in (${sql.join(blockedSources)})`;
  const later = sql<boolean>`(not_before_ms > ${serviceMs} or ${blocked})`;
  const count = (condition: ReturnType<typeof sql<boolean>>) =>
    sql<number | null>`sum(case when ${condition} then 1 else 0 end)`;
  const row = await trx
    .selectFrom("run_lines")
    .select([
      count(sql`state = 'planned' and funded = 0`).as("to_fund"),
      count(sql`${ready} and not ${later}`).as("to_pay"),
      count(sql`${followed} and (look = 1 or poll_at_ms <= ${businessMs})
        or state = 'settled' and (look = 1 or poll_at_ms = 0)
        or ${isUnreadAt(businessMs)}`).as("to_follow"),
      // A line that a request may still pay is not polled, however late its poll is.
      sql<number | null>`min(case when ${followed}
        or ${IS_UNDECIDED} and poll_at_ms > ${businessMs} then poll_at_ms
        when ${IS_UNDECIDED} and not ${isUnreadAt(businessMs)} then ${businessMs + HOUR_MS}
        end)`.as("next_poll"),
      sql<number | null>`min(case when ${ready} and not_before_ms > ${serviceMs}
        then not_before_ms end)`.as("back_off_until"),
      sql<number | null>`min(case when ${leased} and not ${isFree}
        then lease_until_ms end)`.as("leased_until"),
      sql<string | null>`min(case when ${isIn("state", PAID_SOME_DAY)}
        then execution_date end)`.as("pay_date"),
      sql<number | null>`min(case when state = 'planned' and funded = 0
        then updated_at_ms end)`.as("short_since"),
    ])
    .where("run_id", "=", runId)
    .where(isIn("state", [...new Set([...PAID_SOME_DAY, ...LINE.decidable])]))
    .executeTakeFirst();
  const backOffUntil = row?.back_off_until ?? null;
  const leasedUntil = row?.leased_until ?? null;
  const leases = [backOffUntil, leasedUntil === null ? null : leasedUntil - nowMs + serviceMs];
  return {
    toFund: Number(row?.to_fund ?? 0),
    toPay: Number(row?.to_pay ?? 0),
    toFollow: Number(row?.to_follow ?? 0),
    nextPollMs: row?.next_poll ?? null,
    nextLeaseMs: least(leases.filter((at) => at !== null)),
    payDate: row?.pay_date ?? null,
    shortSinceMs: row?.short_since ?? null,
  };
}

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.min(...values);
}
