import type { Transaction } from "kysely";
import type { Tables } from "../store/schema/tables.ts";
import type { Execution } from "./executions.ts";

type Keep = (trx: Transaction<Tables>) => Promise<boolean>;

export type EndedExecution = Exclude<Execution, { kind: "running" }>;

/** A row of the store that a workflow must be at work on. */
export interface Owed {
  readonly workflowId: string;
  /** Real instant after which its workflow should have been started. */
  readonly sinceMs: number;
  /** What the trail's entry for the new workflow is about. */
  readonly subject: string;
  /**
   * Reads what it needs outside a transaction, and returns a function that keeps, in one, what a
   * person meant by ending the workflow. That function returns false if nothing is to be followed
   * any more.
   */
  readonly keep?: (was: EndedExecution) => Promise<Keep>;
  readonly start: () => Promise<void>;
}
