/** Kinds of authors: a principal (a person or system behind a token, a key or an identity), or Payrun. */
export const AUTHOR_KINDS = ["principal", "system"] as const;

export type AuthorKind = (typeof AUTHOR_KINDS)[number];

/**
 * What does something of its own accord: Payrun, one of its workflows, a schedule, a person at
 * Temporal or on the store's host whom no token names. A principal is never one, whatever its name.
 */
export class SystemAuthor {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Who does something: a principal, by name, or the system. */
export type Author = string | SystemAuthor;

export const PAYRUN = new SystemAuthor("payrun");

/** A person who acted in Temporal's UI or command line. */
export const TEMPORAL = new SystemAuthor("temporal");

/** The sender of a request or webhook whom nothing proves. */
export const UNKNOWN_SENDER = new SystemAuthor("somebody");

/** Returns a workflow as an author. */
export function byWorkflow(workflowId: string): SystemAuthor {
  return new SystemAuthor(workflowId);
}

export function nameOfAuthor(author: Author): string {
  return typeof author === "string" ? author : author.name;
}

export function kindOfAuthor(author: Author): AuthorKind {
  return typeof author === "string" ? "principal" : "system";
}

/** Returns the author whom a row names. */
export function authorOf(name: string, kind: AuthorKind): Author {
  return kind === "principal" ? name : new SystemAuthor(name);
}

export function isSameAuthor(one: Author, other: Author): boolean {
  return kindOfAuthor(one) === kindOfAuthor(other) && nameOfAuthor(one) === nameOfAuthor(other);
}
