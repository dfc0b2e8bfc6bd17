import { expect } from "vitest";
import { ALL_ERROR_CODES } from "../../src/contracts/error-codes.ts";
import { isRecord } from "../../src/contracts/is-record.ts";
import { NoticeMessageBody } from "../../src/api/notices.ts";
import { NOTICE } from "../../src/gateway/http/examples/requests.ts";
import { sharedGatewayTest } from "./support/gateway-test.ts";
import { openapiProblems } from "../support/openapi-problems.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}

interface Media {
  readonly schema: { readonly $ref?: string };
  readonly example?: unknown;
}

interface Description {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly object[];
}

const test = sharedGatewayTest().extend("described", { scope: "file" }, async ({ gateway }) => {
  const { json } = await gateway.call("GET", "/openapi.json", null);
  return json as unknown as Description;
});

test("the API's description is valid, and its examples and defaults are what its schemas say", async ({
  described,
}) => {
  let defaults = 0;
  const withDefaults = JSON.parse(JSON.stringify(described), (_key, value: unknown) => {
    if (!isRecord(value) || value["default"] === undefined || isRecord(value["default"])) {
      return value;
    }
    defaults += 1;
    return { ...value, example: value["default"] };
  }) as object;
  expect(defaults).toBeGreaterThan(10);
  expect(await openapiProblems(withDefaults)).toEqual([]);
});

test("an example that its schema refuses is a problem, so the validator does look at them", async ({
  described,
}) => {
  const wrong = structuredClone(described) as unknown as { paths: Record<string, never> };
  const { get } = wrong.paths["/v1/holds"] as unknown as { get: Operation };
  const media = get.responses["200"]?.content?.["application/json"];
  Object.assign(media ?? {}, { example: { items: [{ id: 1 }] } });
  expect((await openapiProblems(wrong)).join("\n")).toContain("no-invalid-media-type-examples");
});

test("a component is never null itself, so every answer that may be null says so where it is used", async ({
  described,
}) => {
  const nullable = Object.entries(described.components.schemas).filter(
    ([, { type = [], anyOf = [] }]) =>
      type.includes("null") || anyOf.some((each) => "type" in each && each.type === "null"),
  );
  expect(nullable.map(([name]) => name)).toEqual([]);
  const stop = described.components.schemas["Stop"]?.properties?.["cancellation"];
  expect(stop?.anyOf).toEqual([
    { $ref: "#/components/schemas/CancellationStatus" },
    { type: "null" },
  ]);
});

test("every operation has a name of its own in camelCase, and says which security it has", async ({
  described,
}) => {
  const all = Object.entries({ ...described.paths, ...described.webhooks }).flatMap(
    ([path, methods]) => Object.values(methods).map((operation) => ({ path, ...operation })),
  );
  const ids = all.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)*$/);
  const open = all.filter(({ security }) => security.length === 0).map(({ path }) => path);
  expect(open.toSorted()).toEqual(["/health", "/ready", "/webhooks/{business}", "notice"]);
});

test("refusals list the codes that their status may have, and together all codes", async ({
  described,
}) => {
  const named = Object.entries(described.components.schemas).flatMap(([name, { properties }]) =>
    /^Error\d{3}$/.test(name) ? (properties?.["error"]?.enum ?? []) : [],
  );
  expect(named.toSorted()).toEqual([...ALL_ERROR_CODES].toSorted());
  const { responses } = described.paths["/v1/runs/{id}/decisions"]?.["post"] ?? {};
  expect(responses?.["409"]?.content?.["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/Error409",
  });
});

test("reports are described as JSON and as CSV, instants and days with their formats", async ({
  described,
}) => {
  for (const path of ["/v1/runs/{id}/report", "/v1/reports"]) {
    const { content = {} } = described.paths[path]?.["get"]?.responses["200"] ?? {};
    expect(Object.keys(content)).toEqual(["application/json", "text/csv"]);
  }
  const { createdAt } = described.components.schemas["Token"]?.properties ?? {};
  expect(createdAt).toMatchObject({ type: "string", format: "date-time" });
  const { dueDate } = described.components.schemas["PlanLine"]?.properties ?? {};
  expect(dueDate).toMatchObject({ format: "date" });
});

test("the description names the gateway's own address and the notices that it sends", async ({
  described,
  gateway,
}) => {
  expect(described.servers).toEqual([{ url: gateway.url }]);
  expect(Object.keys(described.webhooks)).toEqual(["notice"]);
  expect(NoticeMessageBody.parse(NOTICE)).toEqual(NOTICE);
});

test("no example is a filler", async ({ described }) => {
  const fillers: string[] = [];
  JSON.stringify(described.paths, (key, value: unknown) => {
    if (key !== "example") return value;
    fillers.push(...(JSON.stringify(value).match(/"[^"]*":\[?"(…|text)"/g) ?? []));
    return undefined;
  });
  expect(fillers).toEqual([]);
});

test("an extension of a component doesn't say something else of its fields, which generators of clients refuse", async ({
  described,
}) => {
  const twice: string[] = [];
  const fieldsOf = ({ $ref, properties }: Part): readonly string[] => {
    const named = described.components.schemas[$ref?.split("/").at(-1) ?? ""];
    return Object.keys({ ...named?.properties, ...properties });
  };
  let extensions = 0;
  JSON.stringify(described, (_key, value: unknown) => {
    if (!isRecord(value) || !Array.isArray(value["allOf"])) return value;
    extensions += 1;
    const fields = (value["allOf"] as readonly Part[]).flatMap(fieldsOf);
    twice.push(...fields.filter((field, at) => fields.indexOf(field) !== at));
    return value;
  });
  expect(extensions).toBeGreaterThan(3);
  expect(twice).toEqual([]);
});

/** One of the schemas that an extension joins. */
interface Part extends Schema {
  readonly $ref?: string;
}
