import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { execute, getRow, insertRow } from "../db.ts";
import type { DeliveryRow } from "./tables.ts";

const probability = z.number().min(0).max(1);
const longestOvertakenMs = 1_000;

/**
 * `webhooks` of `POST /sandbox/faults`: probabilities from 0 to 1 for each new delivery.
 *
 * `lose`: the delivery is listed as dead and nothing is ever sent. `duplicate`: its first attempt
 * is sent twice. `reorder`: it is kept back up to a second, so that later ones overtake it.
 * `delayMs`: real time before its first attempt. With the same `seed` the same deliveries are hit
 * again.
 */
export const webhookFaults = z.strictObject({
  lose: probability.optional(),
  duplicate: probability.optional(),
  reorder: probability.optional(),
  delayMs: z.number().min(0).max(3_600_000).optional(),
  seed: z.union([z.number(), z.string()]).optional(),
});

export type WebhookFaults = z.infer<typeof webhookFaults>;

/** Replaces the faults of all further deliveries; undefined ends them. */
export function setWebhookFaults(db: DatabaseSync, faults: WebhookFaults | undefined): void {
  execute(db, "DELETE FROM webhook_faults");
  if (faults === undefined) return;
  insertRow(db, "webhook_faults", { one: 1, faults: JSON.stringify(faults), draws: 0 });
}

/**
 * Returns what the faults do to the next delivery: the columns that differ from an undisturbed one.
 */
export function drawWebhookFault(db: DatabaseSync, wireNowMs: number): Partial<DeliveryRow> {
  const row = getRow<{ faults: string; draws: number }>(db, "SELECT * FROM webhook_faults");
  if (row === undefined) return {};
  execute(db, "UPDATE webhook_faults SET draws = draws + 1");
  const faults = JSON.parse(row.faults) as WebhookFaults;
  const chance = (what: string) =>
    faults.seed === undefined ? Math.random() : seeded(`${faults.seed}:${what}:${row.draws}`);
  if (chance("lose") < (faults.lose ?? 0)) {
    return { status: "dead", next_attempt_at: null, dead_at: wireNowMs, last_error: "lost" };
  }
  const overtakenMs =
    chance("reorder") < (faults.reorder ?? 0) ? 100 + chance("by") * longestOvertakenMs : 0;
  const heldMs = (faults.delayMs ?? 0) + overtakenMs;
  return {
    copies: chance("duplicate") < (faults.duplicate ?? 0) ? 2 : 1,
    held_until_real: heldMs === 0 ? 0 : Math.ceil(Date.now() + heldMs),
  };
}

/** Returns a number from 0 to 1 that depends only on the text. */
function seeded(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
