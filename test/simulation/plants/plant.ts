/** A bug that is put in on purpose: it replaces one export of one of the engine's modules. */
export interface Plant {
  readonly name: string;
  /** From the project's root. */
  readonly file: string;
  readonly replaces: string;
  /** @param real what it replaces */
  readonly make: (real: Replaced) => Replaced | (new () => object);
}

/** Nothing is known here of what is replaced: each plant is written for one export. */
export type Replaced = (...given: readonly unknown[]) => unknown;

/** A send, as far as plants look at it. */
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

/** What the ledger knows of a subject, as far as plants look at it. */
export interface Facts {
  readonly attempts: readonly Attempt[];
  readonly looks: readonly { readonly shownIds: readonly string[] }[];
}
