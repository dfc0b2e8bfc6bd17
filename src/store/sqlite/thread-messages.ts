import type { SQLInputValue } from "node:sqlite";

/** A request to the thread of a file; requests are answered in their order. */
export type Request =
  | { readonly kind: "begin"; readonly flush: boolean }
  | { readonly kind: "commit" | "rollback" | "close" }
  | {
      readonly kind: "run";
      readonly sql: string;
      readonly parameters: readonly SQLInputValue[];
    };

export type ThreadAnswer =
  | { readonly ok: true; readonly result?: RowList | Written }
  | { readonly ok: false; readonly error: Failure };

/** Rows as lists, so that the names of their columns are sent only once. */
export interface RowList {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface Written {
  readonly changes: bigint;
  readonly insertId: bigint;
}

/** An error of node:sqlite; a copy made by the runtime would lose its codes. */
export interface Failure {
  readonly message: string;
  readonly code: unknown;
  readonly errcode: unknown;
}
