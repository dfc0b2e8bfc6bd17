import type { DatabaseSync } from "node:sqlite";
import { getRow, updateRow } from "../db.ts";
import type { AttemptResult } from "./attempt.ts";
import { type DeliveryRow, endpointById, type EndpointRow } from "./tables.ts";

export const maxAttempts = 10;
const firstBackoffMs = 60_000;
const failedInARowToPause = 20;
const failingToPauseMs = 24 * 3_600_000;

/**
 * An attempt and its result. The wire clock, which may be stepped, counts the back-off and the day
 * of failure.
 */
export interface FinishedAttempt {
  deliveryId: string;
  result: AttemptResult;
  wireNowMs: number;
}

/**
 * Records an attempt's result, and pauses the endpoint if it has failed too long. Runs inside a
 * transaction.
 */
export function recordAttempt(db: DatabaseSync, finished: FinishedAttempt): void {
  const { deliveryId, result, wireNowMs } = finished;
  const delivery = getRow<DeliveryRow>(db, "SELECT * FROM deliveries WHERE id = ?", deliveryId);
  if (delivery === undefined) return;
  const endpoint = endpointById(db, delivery.endpoint_id);
  updateRow(db, "deliveries", delivery.id, {
    ...statusAfter(delivery, endpoint, result, wireNowMs),
    copies: 1,
    last_response_code: result.responseCode,
    last_response_body: result.responseBody,
    last_error: result.error,
  });
  if (endpoint === undefined) return;
  if (result.succeeded) {
    if (endpoint.failing_since === null) return;
    updateRow(db, "webhook_endpoints", endpoint.id, { failed_in_a_row: 0, failing_since: null });
    return;
  }
  countFailure(db, endpoint, delivery, wireNowMs);
}

function statusAfter(
  delivery: DeliveryRow,
  endpoint: EndpointRow | undefined,
  result: AttemptResult,
  wireNowMs: number,
): Partial<DeliveryRow> & { status: DeliveryRow["status"] } {
  if (result.succeeded) {
    return { status: "succeeded", next_attempt_at: null, succeeded_at: wireNowMs };
  }
  if (delivery.attempt_count >= maxAttempts || endpoint?.status === "deleted") {
    return { status: "dead", next_attempt_at: null, dead_at: wireNowMs };
  }
  const backoffMs = firstBackoffMs * 2 ** (delivery.attempt_count - 1);
  return { status: "failed", next_attempt_at: wireNowMs + backoffMs };
}

/**
 * Counts a failure. A delivery counts once, however often it is retried: the count is of deliveries
 * that fail in a row.
 */
function countFailure(
  db: DatabaseSync,
  endpoint: EndpointRow,
  delivery: DeliveryRow,
  wireNowMs: number,
): void {
  const failedInARow = endpoint.failed_in_a_row + (delivery.attempt_count === 1 ? 1 : 0);
  const failingSince = endpoint.failing_since ?? wireNowMs;
  const isPausing =
    endpoint.status === "active" &&
    (failedInARow >= failedInARowToPause || wireNowMs - failingSince >= failingToPauseMs);
  updateRow(db, "webhook_endpoints", endpoint.id, {
    failed_in_a_row: failedInARow,
    failing_since: failingSince,
    ...(isPausing ? { status: "paused", updated_at: wireNowMs } : {}),
  });
}
