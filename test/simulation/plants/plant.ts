/** A bug that is planted on purpose: it replaces one export of one of the engine's modules. */
export interface Plant {
  readonly name: string;
  /** Relative to the project's root. */
  readonly file: string;
  readonly replaces: string;
  /** @param real the export that it replaces */
  readonly make: (real: Replaced) => Replaced | (new () => object);
}

/** The type of what is replaced is unknown here: each plant is written for one export. */
export type Replaced = (...given: readonly unknown[]) => unknown;

/** The part of a send that plants use. */
export interface Sent {
  readonly result: string;
  readonly status: number | null;
  readonly path: string;
  readonly body: string;
}

interface Attempt {
  readonly seq: number;
  readonly sends: readonly Sent[];
  readonly adoptedIds: readonly string[];
}

/** The part of the ledger's facts about a subject that plants use. */
export interface Facts {
  readonly attempts: readonly Attempt[];
  readonly lookups: readonly { readonly shownIds: readonly string[] }[];
}
