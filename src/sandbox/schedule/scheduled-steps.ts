import type { DatabaseSync } from "node:sqlite";
import { execute, getRow, insertRow } from "../db.ts";

/**
 * What will happen on the bank clock to anything but a payment, which carries its own next step.
 */
export const scheduleDdl = `
CREATE TABLE IF NOT EXISTS scheduled_steps (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  due_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS scheduled_steps_due ON scheduled_steps (due_at, seq);
CREATE INDEX IF NOT EXISTS scheduled_steps_subject ON scheduled_steps (subject);
`;

/** The kinds of steps; `step-handlers.ts` says what each does. */
export type StepKind =
  | "micro-deposits-arrive"
  | "accounting-sync-ends"
  | "receipt-submits"
  | "receipt-releases"
  | "receipt-settles"
  | "receipt-returns"
  | "transfer-submits"
  | "transfer-settles"
  | "transfer-returns";

export interface ScheduledStep {
  seq: number;
  /** Instant on the bank clock. */
  due_at: number;
  kind: StepKind;
  /** The id of the object that the step is about. */
  subject: string;
}

/** Schedules a step for an instant of the bank clock, in the caller's transaction. */
export function scheduleStep(
  db: DatabaseSync,
  kind: StepKind,
  subject: string,
  dueAtMs: number,
): void {
  insertRow(db, "scheduled_steps", { due_at: dueAtMs, kind, subject });
}

/** Deletes a step that was taken or must not happen any more. */
export function removeStep(db: DatabaseSync, seq: number): void {
  execute(db, "DELETE FROM scheduled_steps WHERE seq = ?", seq);
}

/** Deletes all steps that are scheduled for one object. */
export function removeStepsOf(db: DatabaseSync, subject: string): void {
  execute(db, "DELETE FROM scheduled_steps WHERE subject = ?", subject);
}

/** Returns the step that comes first on the bank clock, if it is due by `untilMs`. */
export function nextScheduledStep(db: DatabaseSync, untilMs: number): ScheduledStep | undefined {
  return getRow(
    db,
    "SELECT * FROM scheduled_steps WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1",
    untilMs,
  );
}

/** Returns the instant of the next step on the bank clock; undefined if there is none. */
export function nextScheduledInstant(db: DatabaseSync): number | undefined {
  const sql = "SELECT min(due_at) AS due FROM scheduled_steps";
  return getRow<{ due: number | null }>(db, sql)?.due ?? undefined;
}
