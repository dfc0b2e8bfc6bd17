import type { z } from "zod";
import type { Playbook } from "../../contracts/playbook.ts";
import type { Issue } from "../source.ts";

/** The definition of a kind of playbook: how it is written, and how it is compiled. */
export interface PlaybookKind {
  /** The keys, with their descriptions for editors; our own readers parse the values. */
  readonly schema: z.ZodObject;
  /** Former keys, dotted, with what to write now. */
  readonly formerKeys: ReadonlyMap<string, string>;
  /** Finds mistakes between values that are each valid alone, even if other values are wrong. */
  readonly checkTogether: (written: unknown) => readonly Issue[];
  /**
   * Returns null for the playbook if the schema finds mistakes, which are then in `issues`. What is
   * valid, and probably not meant, is in `warnings`.
   */
  readonly read: (
    name: string,
    written: unknown,
  ) => {
    readonly playbook: Playbook | null;
    readonly issues: readonly z.core.$ZodIssue[];
    readonly warnings: readonly Issue[];
  };
}

/** Ties a kind's schema to the function that fills in its defaults. */
export function playbookKind<Schema extends z.ZodObject>(definition: {
  readonly schema: Schema;
  readonly formerKeys?: ReadonlyMap<string, string>;
  readonly checkTogether: (written: unknown) => readonly Issue[];
  readonly warn?: (input: z.output<Schema>, written: unknown) => readonly Issue[];
  readonly compile: (name: string, input: z.output<Schema>) => Playbook;
}): PlaybookKind {
  const { schema, formerKeys = new Map(), checkTogether, warn, compile } = definition;
  return {
    schema,
    formerKeys,
    checkTogether,
    read(name, written) {
      const parsed = schema.safeParse(written);
      if (!parsed.success) return { playbook: null, issues: parsed.error.issues, warnings: [] };
      const warnings = warn?.(parsed.data, written) ?? [];
      return { playbook: compile(name, parsed.data), issues: [], warnings };
    },
  };
}
