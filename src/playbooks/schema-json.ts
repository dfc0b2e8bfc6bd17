import { z } from "zod";
import type { Playbook } from "../contracts/playbook.ts";
import { PLAYBOOK_KINDS } from "./kinds/index.ts";

/** A JSON Schema node, with the keywords that playbooks use. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
}

/**
 * Returns the JSON Schema (draft 7) of a playbook, for editors: every key with a description, its
 * default and examples; `kind` decides which keys there are. It is looser than loading, which also
 * checks conditions and rules against each other.
 */
export function playbookJsonSchema(): JsonSchema {
  const kinds = Object.keys(PLAYBOOK_KINDS) as Playbook["kind"][];
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Payrun playbook",
    type: "object",
    properties: { kind: { description: "What the playbook does.", enum: kinds } },
    required: ["kind"],
    oneOf: kinds.map((kind) => {
      // An editor would read a second `$schema` as the start of another document.
      const { $schema: _, ...schema } = kindJsonSchema(kind);
      return schema;
    }),
  };
}

/** Returns the same for the playbooks of one kind. */
export function kindJsonSchema(kind: Playbook["kind"]): JsonSchema {
  return z.toJSONSchema(PLAYBOOK_KINDS[kind].schema, {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
    // zod leaves these out if a text is transformed into another type; here the input is a text
    // too.
    override: ({ zodSchema, jsonSchema }) => {
      const meta = z.globalRegistry.get(zodSchema);
      if (Array.isArray(meta?.examples)) jsonSchema.examples = meta.examples;
      // A list or a mapping is one node with the keywords of both: no keyword is for either.
      const [list, mapping] = jsonSchema.anyOf ?? [];
      if (list?.type === "array" && mapping?.type === "object") {
        Object.assign(jsonSchema, list, mapping, { type: ["array", "object"] });
        delete jsonSchema.anyOf;
      }
      // A mapping's default is that of its keys, each of which says its own.
      if (JSON.stringify(jsonSchema.default) === "{}") delete jsonSchema.default;
    },
  }) as JsonSchema;
}
