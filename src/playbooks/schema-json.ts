import { z } from "zod";
import { payRunSchema } from "./schema.ts";

/** A JSON Schema node, as far as playbooks use it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
}

/**
 * The JSON Schema (draft 7) of a playbook, for editors: every key with a description, its default
 * and examples. It is looser than loading, which also checks conditions and rules against each
 * other.
 */
export function playbookJsonSchema(): JsonSchema {
  return z.toJSONSchema(payRunSchema, {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
    // zod leaves these out where a text is turned into something else; here they are texts too.
    override: ({ zodSchema, jsonSchema }) => {
      const meta = z.globalRegistry.get(zodSchema);
      if (Array.isArray(meta?.examples)) jsonSchema.examples = meta.examples;
      if (meta?.default !== undefined) jsonSchema.default = meta.default;
    },
  }) as JsonSchema;
}
