import { type ExpressionBuilder, sql } from "kysely";
import { CANCELLATION_STATES, type CancellationPhase } from "../../contracts/cancellation.ts";
import { isNotCancelled } from "../../domain/cancellations/left-to-people.ts";
import { launchedByEvents } from "../../domain/events/triggers.ts";
import { type Cancellation, toCancellation } from "./cancellations.ts";
import { type Db, sumOfCents } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import { idsIn } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

type OfCancellations = ExpressionBuilder<Tables, "cancellations">;

const LEFT = CANCELLATION_STATES.filter(isNotCancelled);

/** A cancellation with the sum of its amounts. */
export interface ListedCancellation extends Cancellation {
  readonly totalCents: number;
  /** True if a bill of a run is held back. */
  readonly withheld: boolean;
}

/**
 * Returns cancellations, the newest first, without those that an event or a run started and that
 * found nothing to take back or to hold back.
 */
export async function listCancellations(
  db: Db,
  filter: {
    readonly businessId?: string | undefined;
    readonly phase?: CancellationPhase | undefined;
    /** True: only those that hold a bill back. */
    readonly holdsBack?: true | undefined;
    /** Only those that may have left something to a person who was asked at this instant or later. */
    readonly leftSinceMs?: number | undefined;
    /** Only these. */
    readonly ids?: readonly string[] | undefined;
    readonly limit: number;
  },
): Promise<ListedCancellation[]> {
  const { businessId, phase, leftSinceMs, ids, limit } = filter;
  let query = db
    .selectFrom("cancellations")
    .selectAll("cancellations")
    .select((eb) =>
      eb
        .selectFrom("cancellation_items")
        .whereRef("cancellation_items.workflow_id", "=", "cancellations.workflow_id")
        .select(sumOfCents("cancellation_items.amount_cents").as("cents"))
        .as("total_cents"),
    )
    .select((eb) => isHoldingBack(eb).as("withheld"))
    .where(foundSomething);
  if (businessId !== undefined) query = query.where("business_id", "=", businessId);
  if (phase !== undefined) query = query.where("phase", "=", phase);
  if (ids !== undefined) query = query.where("workflow_id", "in", idsIn(ids));
  if (leftSinceMs !== undefined) query = query.where(mayHaveLeft(leftSinceMs));
  if (filter.holdsBack === true) query = query.where(isHoldingBack);
  const rows = await query
    .orderBy("requested_at_ms", "desc")
    .orderBy("workflow_id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    ...toCancellation(row),
    totalCents: Number(row.total_cents ?? 0),
    withheld: Boolean(row.withheld),
  }));
}

/**
 * True for a cancellation unless an event or a run started it and it found nothing to take back or to
 * hold back.
 */
export function foundSomething(eb: OfCancellations) {
  return eb.or([
    eb("requested_by_kind", "!=", "system"),
    eb.and([
      eb("requested_by", "!=", sql<string>`${launchedByEvents("").name} || cancellations.playbook`),
      eb("requested_by", "!=", eb.ref("cancellations.playbook")),
    ]),
    eb("phase", "!=", "completed"),
    eb.exists(
      eb
        .selectFrom("cancellation_items")
        .select("cancellation_items.item_no")
        .whereRef("cancellation_items.workflow_id", "=", "cancellations.workflow_id"),
    ),
  ]);
}

/** True for a cancellation that holds bills of a run back. */
export function isHoldingBack(eb: OfCancellations) {
  return eb.and([
    eb("cancellations.run_id", "is not", null),
    eb("cancellations.workflow_id", "in", (of) =>
      of
        .selectFrom("cancellation_items")
        .select("cancellation_items.workflow_id")
        .where(is("cancellation_items.state", "withheld")),
    ),
  ]);
}

/**
 * True for a cancellation that ended with a payment about which people may still be asked: its money
 * went out at this instant or later, is held, or it isn't known when it goes out. The items
 * themselves say whether they are.
 */
function mayHaveLeft(sinceMs: number) {
  return (eb: OfCancellations) =>
    eb.and([
      eb("cancellations.phase", "=", "completed-with-exceptions"),
      eb.exists(
        eb
          .selectFrom("cancellation_items")
          .select("cancellation_items.item_no")
          .whereRef("cancellation_items.workflow_id", "=", "cancellations.workflow_id")
          .where("cancellation_items.state", "in", LEFT)
          .where((item) => {
            const outAtMs = item.fn.coalesce(
              "cancellation_items.goes_out_at_ms",
              "cancellation_items.cancelled_at_ms",
            );
            const isHeld = item
              .selectFrom("seen_payments")
              .select("seen_payments.payment_id")
              .whereRef("seen_payments.business_id", "=", "cancellation_items.business_id")
              .whereRef("seen_payments.payment_id", "=", "cancellation_items.payment_id")
              .where("seen_payments.status", "=", "held");
            const isHeldLine = item
              .selectFrom("run_lines")
              .select("run_lines.payable_id")
              .whereRef("run_lines.run_id", "=", "cancellations.run_id")
              .whereRef("run_lines.payable_id", "=", "cancellation_items.payable_id")
              .where("run_lines.state", "=", "held");
            return item.or([
              item("cancellation_items.state", "=", "unknown"),
              item("cancellation_items.goes_out_at_ms", "is", null).and(
                "cancellation_items.state",
                "=",
                "several-scheduled",
              ),
              item(outAtMs, "is", null),
              item(outAtMs, ">=", sinceMs),
              item.exists(isHeld),
              item.exists(isHeldLine),
            ]);
          }),
      ),
    ]);
}
