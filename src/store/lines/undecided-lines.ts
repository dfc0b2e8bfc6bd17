import type { LineReason } from "../../contracts/reason-codes.ts";
import {
  type Expression,
  type ExpressionBuilder,
  sql,
  type SqlBool,
  type Transaction,
} from "kysely";
import { LINE, type LineState } from "../../contracts/line-states.ts";
import { holdsOn, onHoldText } from "../../domain/holds.ts";
import { recordMoves } from "../facts/record-moves.ts";
import { chunks } from "../sql/db.ts";
import { activeHolds, type Hold } from "../holds/holds.ts";
import { isApproved } from "../approvals/line-approvals.ts";
import { NO_BACK_OFF } from "./lease-columns.ts";
import { type RunLine, toRunLine } from "./lines.ts";
import { SCOPES_WITHIN_RUN } from "./open-lines.ts";
import { HELD } from "./undecided-looks.ts";
import { rowMayStillPay } from "../payables/open-subjects.ts";
import { UNAPPROVED } from "../payables/waits-for-person.ts";
import type { Row, Tables } from "../schema/tables.ts";

const LINES_A_PAGE = 1_000;

/** A run at an instant. */
export interface RunMoment {
  readonly runId: string;
  readonly businessId: string;
  readonly playbook: string;
  /** Business-clock instant, whole milliseconds. */
  readonly businessMs: number;
  readonly nowMs: number;
}

/** Stops the lines that holds name, and frees those that no hold names any more. */
export async function applyHolds(trx: Transaction<Tables>, moment: RunMoment): Promise<void> {
  const holds = await activeHolds(trx, moment.businessId, moment.businessMs);
  const lifted: string[] = [];
  const stopped = new Map<string, string[]>();
  for await (const line of heldOrNamed(trx, moment, holds)) {
    const facts = { ...line, runId: moment.runId, playbook: moment.playbook };
    const [hold, ...others] = holdsOn(holds, facts);
    if (hold === undefined) {
      if (line.state === "on-hold") lifted.push(line.payableId);
      continue;
    }
    const reason = onHoldText(hold, others.length);
    if (line.state === "on-hold" && line.reason === reason) continue;
    const alike = stopped.get(reason);
    if (alike === undefined) stopped.set(reason, [line.payableId]);
    else alike.push(line.payableId);
  }
  // While a line was on hold, another run may have used its money. The gate asks about its vendor's
  // record anew, because the hold's reason has replaced the question.
  const asksAnew = { record_asked: null, record_asked_at_ms: null };
  await moveLines(trx, moment, lifted, { state: "awaiting-approval", funded: 0, ...asksAnew });
  for (const [reason, ids] of stopped) {
    await moveLines(trx, moment, ids, { state: "on-hold", reason_code: HELD, reason });
  }
}

type Changed = Partial<Row<"run_lines">>;

const NO_REASON: Changed = { reason_code: null, reason: null };

/** Approvers are asked anew once the line is free again. */
const BEGUN_ANEW: Changed = { stage_since_ms: null, ...NO_BACK_OFF };

async function moveLines(
  trx: Transaction<Tables>,
  moment: RunMoment,
  payableIds: readonly string[],
  to: Changed & { readonly state: LineState; readonly reason_code?: LineReason },
): Promise<void> {
  const why = { reasonCode: to.reason_code, reason: to.reason };
  for (const ids of chunks(payableIds)) {
    const set = { ...NO_REASON, ...BEGUN_ANEW, ...to };
    await move(trx, moment, (eb) => [eb("payable_id", "in", ids)], set, why);
  }
}

type Conditions = (eb: ExpressionBuilder<Tables, "run_lines">) => Expression<SqlBool>[];

/** Moves the lines of the run for which all of this is true, and records why. */
async function move(
  trx: Transaction<Tables>,
  moment: RunMoment,
  which: Conditions,
  to: Changed & { readonly state: LineState },
  why: Parameters<typeof recordMoves>[4],
): Promise<void> {
  const rows = await trx
    .updateTable("run_lines")
    .set({ ...to, updated_at_ms: moment.nowMs })
    .where("run_id", "=", moment.runId)
    .where((eb) => eb.and(which(eb)))
    .returning(["payable_id", "line_no"])
    .execute();
  await recordMoves(trx, moment, to.state, rows, why);
}

type HoldableLine = Pick<RunLine, "payableId" | "contactId" | "sourceId" | "state" | "reason">;

/** Yields undecided lines that a hold may name, and lines that a hold has stopped. */
async function* heldOrNamed(
  trx: Transaction<Tables>,
  moment: RunMoment,
  holds: readonly Hold[],
): AsyncGenerator<HoldableLine> {
  const { runId, playbook } = moment;
  // A hold that names nothing that lines differ in stops all lines of this run, or none.
  const all = holds.some(
    ({ scope, value }) =>
      !SCOPES_WITHIN_RUN.some((within) => within.scope === scope) &&
      (scope !== "run" || value === runId) &&
      (scope !== "playbook" || value === playbook),
  );
  const named = (eb: ExpressionBuilder<Tables, "run_lines">) =>
    eb.or(
      SCOPES_WITHIN_RUN.filter(({ scope }) => holds.some((hold) => hold.scope === scope)).map(
        ({ scope, column }) => eb(column, "in", activeValues(trx, moment, scope)),
      ),
    );
  for (let after = 0; ;) {
    let query = trx
      .selectFrom("run_lines")
      .select(["payable_id", "contact_id", "source_id", "state", "reason", "line_no"])
      .where("run_id", "=", runId)
      .where("line_no", ">", after)
      .where((eb) =>
        eb.or([
          eb.and([
            eb("state", "in", LINE.holdable),
            all ? sql.lit(true) : holds.length === 0 ? sql.lit(false) : named(eb),
          ]),
          eb.and([eb("state", "=", "on-hold"), eb("reason_code", "=", HELD)]),
        ]),
      )
      .orderBy("line_no")
      .limit(LINES_A_PAGE);
    if (!all) query = query.where("state", "in", LINE.decidable);
    const rows = await query.execute();
    yield* rows.map(toRunLine);
    const last = rows.at(-1);
    if (last === undefined || rows.length < LINES_A_PAGE) return;
    after = last.line_no;
  }
}

function activeValues(trx: Transaction<Tables>, moment: RunMoment, scope: string) {
  return trx
    .selectFrom("holds")
    .select("value")
    .where("business_id", "=", moment.businessId)
    .where("scope", "=", scope)
    .where("released_at_ms", "is", null)
    .where((eb) => eb.or([eb("until_ms", "is", null), eb("until_ms", ">", moment.businessMs)]));
}

/** Moves lines to `planned`, or back to `awaiting-approval`, as their approvals require. */
export async function applyApprovals(trx: Transaction<Tables>, moment: RunMoment): Promise<void> {
  const { runId, businessMs } = moment;
  await move(
    trx,
    moment,
    (eb) => [
      eb("state", "=", "awaiting-approval"),
      eb("record_asked", "is", null),
      isApproved(businessMs),
    ],
    { ...NO_REASON, ...BEGUN_ANEW, state: "planned" },
    { why: "approved" },
  );
  const lapsed = await trx
    .selectFrom("line_approvals")
    .select("payable_id")
    .where("run_id", "=", runId)
    .where("expires_at_ms", "<=", businessMs)
    .limit(1)
    .executeTakeFirst();
  // Only time undoes the approval of a line that has not changed.
  if (lapsed === undefined) return;
  await move(
    trx,
    moment,
    (eb) => [eb("state", "=", "planned"), eb.not(isApproved(businessMs))],
    { ...NO_REASON, ...BEGUN_ANEW, state: "awaiting-approval" },
    { why: UNAPPROVED },
  );
}

/**
 * Parks lines that were not approved in time; lines that a request may still pay are looked up
 * first.
 */
export async function parkUnapproved(trx: Transaction<Tables>, moment: RunMoment): Promise<void> {
  await settleFirst(trx, moment, ["awaiting-approval"], UNAPPROVED);
  const reason = "Nobody approved it in time. The next run asks again.";
  const parked = { state: "parked", reason_code: UNAPPROVED, reason } as const;
  const which: Conditions = (eb) => [eb("state", "=", "awaiting-approval")];
  await move(trx, moment, which, parked, { reasonCode: UNAPPROVED });
}

/**
 * Moves lines that a request may still pay to `unknown`: they end only after that was found out.
 */
async function settleFirst(
  trx: Transaction<Tables>,
  moment: RunMoment,
  states: readonly LineState[],
  why: string,
): Promise<void> {
  const reason = "A request of it may still pay it: Payrun looks until that is known.";
  const unknown = { state: "unknown", reason_code: "answer_unknown", reason } as const;
  const which: Conditions = (eb) => [eb("state", "in", states), rowMayStillPay("run_lines")];
  await move(trx, moment, which, unknown, { reasonCode: why });
}

/**
 * Tries lines again that waited for an event or a person of the business, once it came or their
 * poll is due.
 */
export async function wakeWaiting(trx: Transaction<Tables>, moment: RunMoment): Promise<void> {
  await move(
    trx,
    moment,
    (eb) => [
      eb("state", "=", "on-hold"),
      eb.or([eb("reason_code", "is", null), eb("reason_code", "!=", HELD)]),
      eb.or([eb("look", "=", 1), eb("poll_at_ms", "<=", moment.businessMs)]),
    ],
    { state: "planned", look: 0, funded: 0, ...NO_BACK_OFF },
    { why: "tried_again" },
  );
}

/** Cancels all undecided lines of a run; lines that a request may still pay are looked up first. */
export async function cancelUndecided(
  trx: Transaction<Tables>,
  moment: RunMoment,
  reasonCode: LineReason,
  reason: string | null = null,
): Promise<void> {
  await settleFirst(trx, moment, LINE.decidable, reasonCode);
  const cancelled = { state: "cancelled", reason_code: reasonCode, reason } as const;
  await move(trx, moment, (eb) => [eb("state", "in", LINE.decidable)], cancelled, { reasonCode });
}
