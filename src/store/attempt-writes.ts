import type { Transaction } from "kysely";
import type { BegunAttempt } from "../domain/attempts/sends.ts";
import { changeLiveAttempt, insertAttempts, reviveAttempt } from "./attempts.ts";
import type { Tables } from "./tables.ts";

/** How the attempt of a send gets into the ledger: as a new row, live again, or it is live. */
export type SendMode = "insert" | "revive" | "resend";

/**
 * Writes that a request is about to be sent, in the transaction that has checked that it may be.
 *
 * What is not written here is not sent; what is written here may have been sent, whatever happens
 * to this process next.
 *
 * @returns false where the attempt has its final answer, and nothing may be sent any more
 */
export async function writeAttempt(
  trx: Transaction<Tables>,
  attempt: BegunAttempt,
  mode: SendMode,
  nowMs: number,
): Promise<boolean> {
  if (mode === "insert") {
    await writeAttempts(trx, [attempt], nowMs);
    return true;
  }
  if (mode === "revive") {
    await reviveAttempt(trx, attempt, nowMs);
    return true;
  }
  const { sends, firstSentAtMs, lastSentAtMs, body, executionDate, knownPaymentIds, owner } =
    attempt;
  return changeLiveAttempt(
    trx,
    attempt.attemptId,
    { sends, firstSentAtMs, lastSentAtMs, body, executionDate, knownPaymentIds, owner },
    nowMs,
  );
}

/** As `writeAttempt`, for the first sends of many new attempts at once. */
export async function writeAttempts(
  trx: Transaction<Tables>,
  attempts: readonly BegunAttempt[],
  nowMs: number,
): Promise<void> {
  await insertAttempts(trx, attempts, nowMs);
}
