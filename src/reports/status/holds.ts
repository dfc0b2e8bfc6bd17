import { isIn } from "../../store/sql/is-in.ts";
import { UNDER_WAY } from "../../store/lines/line-states.ts";
import { Temporal } from "temporal-polyfill";
import type { LineState } from "../../contracts/pay-run.ts";
import { newYorkInstantMs } from "../../domain/clock/new-york.ts";
import type { HoldScopeName } from "../../domain/holds.ts";
import type { Hold } from "../../store/holds/holds.ts";
import type { Db } from "../../store/index.ts";

const BANK_ZONE = "America/New_York";

export interface HoldTarget {
  readonly scope: HoldScopeName;
  readonly value: string;
}

/** A hold as the API shows it. */
export function holdJson(hold: Hold, business: string) {
  return {
    id: hold.holdId,
    business,
    scope: hold.scope,
    value: hold.value,
    reason: hold.reason,
    author: hold.author,
    roles: hold.roles,
    createdAt: new Date(hold.createdAtMs).toISOString(),
    until: hold.untilMs === null ? null : new Date(hold.untilMs).toISOString(),
    releasedAt: hold.releasedAtMs === null ? null : new Date(hold.releasedAtMs).toISOString(),
    releasedBy: hold.releasedBy,
  };
}

/**
 * When a hold ends by itself.
 *
 * @param text ISO 8601: an instant, a date for the beginning of its day in New York, or a duration
 *   from now on
 * @param nowMs the business clock
 */
export function endOf(text: string, nowMs: number): number {
  if (/^P/i.test(text)) {
    const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(BANK_ZONE);
    return now.add(Temporal.Duration.from(text)).epochMilliseconds;
  }
  return text.includes("T") ? Date.parse(text) : newYorkInstantMs(text, "00:00");
}

const SENT: readonly LineState[] = ["paying", "unknown", "scheduled", "held", "processing"];

/** How many bills of a hold's target are with the service already. */
export async function sentAlready(db: Db, businessId: string, target: HoldTarget): Promise<number> {
  let query = db
    .selectFrom("run_lines")
    .innerJoin("runs", "runs.run_id", "run_lines.run_id")
    .select((eb) => eb.fn.count<number>("run_lines.payable_id").distinct().as("count"))
    .where("run_lines.business_id", "=", businessId)
    .where(isIn("run_lines.state", UNDER_WAY))
    .where("run_lines.state", "in", SENT);
  if (target.scope === "payable") query = query.where("run_lines.payable_id", "=", target.value);
  if (target.scope === "contact") query = query.where("run_lines.contact_id", "=", target.value);
  if (target.scope === "source") query = query.where("run_lines.source_id", "=", target.value);
  if (target.scope === "run") query = query.where("run_lines.run_id", "=", target.value);
  if (target.scope === "playbook") query = query.where("runs.playbook", "=", target.value);
  const row = await query.executeTakeFirstOrThrow();
  return Number(row.count);
}
