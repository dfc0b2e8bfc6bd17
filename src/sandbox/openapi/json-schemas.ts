import { z } from "zod";

/** A JSON Schema of the 2020-12 draft, which OpenAPI 3.1 and MCP use. */
export type OpenApiSchema = Record<string, unknown>;

type Direction = "input" | "output";

const localPrefix = "#/$defs/";
const formatsThatSayEnough = new Set(["date-time", "date"]);

/** Returns a self-contained schema: what it refers to is in its `$defs`. */
export function jsonSchemaOf(schema: z.ZodType, direction: Direction): OpenApiSchema {
  const { $schema: _, ...rest }: OpenApiSchema = z.toJSONSchema(schema, {
    io: direction,
    unrepresentable: "any",
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  return rest;
}

/** Removes what tells a reader nothing: the pattern of a format, the limits of a double. */
function tidy(schema: OpenApiSchema): void {
  if (formatsThatSayEnough.has(String(schema["format"]))) delete schema["pattern"];
  if (schema["minimum"] === Number.MIN_SAFE_INTEGER) delete schema["minimum"];
  if (schema["maximum"] === Number.MAX_SAFE_INTEGER) delete schema["maximum"];
}

/** The schemas of one document; a schema with a name of its own is in it once. */
export class DocumentSchemas {
  /** The schemas by name. */
  readonly named: Record<string, OpenApiSchema> = {};
  readonly #prefix: string;

  /** @param prefix the start of a reference, such as `#/components/schemas/`. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @throws {Error} if another schema of the document has the same name. */
  add(schema: z.ZodType, direction: Direction): OpenApiSchema {
    const { $defs = {}, ...root } = jsonSchemaOf(schema, direction);
    // What may be sent is laxer than what is promised, so a shape that is used both ways has two
    // names.
    const suffix = direction === "input" ? "Input" : "";
    for (const [name, definition] of Object.entries($defs as Record<string, OpenApiSchema>)) {
      this.#define(`${name}${suffix}`, this.#moved(definition, suffix) as OpenApiSchema);
    }
    return this.#moved(root, suffix) as OpenApiSchema;
  }

  #define(name: string, schema: OpenApiSchema): void {
    const { id: _, ...definition } = schema;
    const known = this.named[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(definition)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    this.named[name] = definition;
  }

  #moved(value: unknown, suffix: string): unknown {
    if (Array.isArray(value)) return value.map((entry) => this.#moved(entry, suffix));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]: [string, unknown]) =>
        name === "$ref" && typeof member === "string"
          ? [name, `${member.replace(localPrefix, this.#prefix)}${suffix}`]
          : [name, this.#moved(member, suffix)],
      ),
    );
  }
}
