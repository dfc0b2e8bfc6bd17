import type { z } from "zod";
import type { Playbook } from "../../contracts/playbook.ts";
import type { Issue } from "../source.ts";

/** What makes a kind of playbook: how it is written, and what becomes of it. */
export interface PlaybookKind {
  /** The keys, with their descriptions for editors; values are read by readers of ours. */
  readonly schema: z.ZodObject;
  /** Keys of before, dotted, with what to write now. */
  readonly formerKeys: ReadonlyMap<string, string>;
  /** What is wrong between values that are each right alone. Speaks also where others are wrong. */
  readonly checkTogether: (written: unknown) => readonly Issue[];
  /** Null where the schema finds something wrong, which `issues` then names. */
  readonly read: (
    name: string,
    written: unknown,
  ) => { readonly playbook: Playbook | null; readonly issues: readonly z.core.$ZodIssue[] };
}

/** Ties a kind's schema to the function that fills in its defaults. */
export function playbookKind<Schema extends z.ZodObject>(definition: {
  readonly schema: Schema;
  readonly formerKeys?: ReadonlyMap<string, string>;
  readonly checkTogether: (written: unknown) => readonly Issue[];
  readonly compile: (name: string, input: z.output<Schema>) => Playbook;
}): PlaybookKind {
  const { schema, formerKeys = new Map(), checkTogether, compile } = definition;
  return {
    schema,
    formerKeys,
    checkTogether,
    read(name, written) {
      const parsed = schema.safeParse(written);
      return parsed.success
        ? { playbook: compile(name, parsed.data), issues: [] }
        : { playbook: null, issues: parsed.error.issues };
    },
  };
}
