import type { AuthorKind } from "../../contracts/authors.ts";
import type { CancellationPhase, CancellationState } from "../../contracts/cancellation.ts";
import type { CancellationPolicy } from "../../domain/cancellations/policy.ts";
import { flag, integer, integerOrNull, json, table, text, textOrNull, word } from "./table.ts";

/** Cancellations of payments, and bills that are held back. */
export const cancellationTables = {
  /** A request to cancel payments, or to hold bills back: one workflow each. */
  cancellations: table(["workflow_id"], {
    workflow_id: text,
    business_id: text,
    business: text,
    /** Empty if a person named the payments. */
    playbook: text,
    /** CancellationPolicy as JSON: a request keeps the revision that it was made with. */
    policy: json<CancellationPolicy>(),
    /** The pay run whose bills are held back; null for payments. */
    run_id: textOrNull,
    reason: text,
    phase: word<CancellationPhase>(),
    waiting_for: textOrNull,
    requested_by: text,
    requested_by_kind: word<AuthorKind>(),
    requested_at_ms: integer,
    /** Real instant at which the payments were chosen and held; null before. */
    chosen_at_ms: integerOrNull,
    ended_at_ms: integerOrNull,
  }),
  cancellation_items: table(["workflow_id", "item_no"], {
    workflow_id: text,
    item_no: integer,
    business_id: text,
    /** Null for a bill that is held back. */
    payment_id: textOrNull,
    payable_id: textOrNull,
    contact_id: textOrNull,
    amount_cents: integer,
    state: word<CancellationState>(),
    /** 1 while something is still to be done or found out. */
    open: flag,
    reason: textOrNull,
    hold_id: textOrNull,
    /** Business-clock instant until which a bill that is held back may be released in time. */
    release_by_ms: integerOrNull,
    /** Business-clock instant of the cancel, or of its end; refunds are late some days after it. */
    cancelled_at_ms: integerOrNull,
    /**
     * Business-clock instant at which a payment that could not be cancelled goes out; null if not
     * known.
     */
    goes_out_at_ms: integerOrNull,
    /** Service-clock instant before which nothing is sent or looked up. */
    not_before_ms: integer,
    /** Business-clock instant of the next read of a refund. */
    poll_at_ms: integer,
    updated_at_ms: integer,
  }),
};
