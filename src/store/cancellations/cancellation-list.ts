import { type ExpressionBuilder, sql } from "kysely";
import type { CancellationPhase } from "../../contracts/cancellation.ts";
import { launchedByEvents } from "../../domain/events/triggers.ts";
import { type Cancellation, toCancellation } from "./cancellations.ts";
import { type Db, sumOfCents } from "../sql/db.ts";
import { is } from "../sql/is-in.ts";
import type { Tables } from "../schema/tables.ts";

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
    readonly phase?: string | undefined;
    /**
     * True: only those that hold a bill back, or that ended with something left for a person to do.
     */
    readonly needsAction?: boolean | undefined;
    /** True: only those that hold a bill back. */
    readonly holdsBack?: true | undefined;
    readonly limit: number;
  },
): Promise<ListedCancellation[]> {
  const { businessId, phase, needsAction, limit } = filter;
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
    .where((eb) =>
      eb.or([
        eb("requested_by_kind", "!=", "system"),
        eb.and([
          eb(
            "requested_by",
            "!=",
            sql<string>`${launchedByEvents("").name} || cancellations.playbook`,
          ),
          eb("requested_by", "!=", eb.ref("cancellations.playbook")),
        ]),
        eb("phase", "!=", "completed"),
        eb.exists(
          eb
            .selectFrom("cancellation_items")
            .select("cancellation_items.item_no")
            .whereRef("cancellation_items.workflow_id", "=", "cancellations.workflow_id"),
        ),
      ]),
    );
  if (businessId !== undefined) query = query.where("business_id", "=", businessId);
  if (phase !== undefined) query = query.where("phase", "=", phase as CancellationPhase);
  if (needsAction !== undefined) {
    query = query.where((eb) => {
      const asks = eb.or([eb("phase", "=", "completed-with-exceptions"), isHoldingBack(eb)]);
      return needsAction ? asks : eb.not(asks);
    });
  }
  if (filter.holdsBack === true) {
    query = query.where("workflow_id", "in", (eb) => {
      const withheld = eb.selectFrom("cancellation_items").select("cancellation_items.workflow_id");
      const spelled = withheld.where(is("cancellation_items.state", "withheld"));
      return businessId === undefined
        ? spelled
        : spelled.where("cancellation_items.business_id", "=", businessId);
    });
  }
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

function isHoldingBack(eb: ExpressionBuilder<Tables, "cancellations">) {
  return eb.and([
    eb("run_id", "is not", null),
    eb.exists(
      eb
        .selectFrom("cancellation_items")
        .select("cancellation_items.item_no")
        .whereRef("cancellation_items.workflow_id", "=", "cancellations.workflow_id")
        .where(is("cancellation_items.state", "withheld")),
    ),
  ]);
}
