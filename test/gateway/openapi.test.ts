import { OpenAPIHono } from "@hono/zod-openapi";
import { expect } from "vitest";
import { isRecord } from "../../src/contracts/is-record.ts";
import { addOperations } from "../../src/gateway/app.ts";
import type { GatewayContext } from "../../src/gateway/http/context.ts";
import { Routes } from "../../src/gateway/http/route.ts";
import { eventTypes } from "../../src/sandbox/webhooks/events.ts";
import { sharedGatewayTest } from "./support/gateway-test.ts";

/** A link's secret, and what the service calls its own refusal of a request. */
const OTHER_CODES = /\/SignInLink$|\/sends\/items$/;

const JSON_TYPE = { "content-type": "application/json" };

const test = sharedGatewayTest().extend("viewer", { scope: "file" }, ({ gateway }) =>
  gateway.token("vic", ["viewer"]),
);

test("the API's description lists every operation, with its request body", async ({
  gateway,
  viewer,
}) => {
  const answer = await gateway.call("GET", "/openapi.json", viewer);
  expect(answer.status).toBe(200);
  const paths = answer.json["paths"] as Record<string, Record<string, object>>;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routed = new OpenAPIHono();
  addOperations(new Routes(routed, {} as GatewayContext));
  const answered = routed.routes.map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  expect(answered.length).toBeGreaterThan(50);
  expect(operations.toSorted()).toEqual(
    [
      ...new Set(answered),
      ...["GET /health", "GET /metrics", "GET /ready", "POST /webhooks/{business}"],
    ].toSorted(),
  );
  expect(paths["/v1/runs"]?.["post"]).toHaveProperty("requestBody");
  expect(answer.text).not.toContain('$ref":"#/components/schemas/undefined');
});

test("what may be null is so by its values, too: generated clients refuse others", async ({
  gateway,
  viewer,
}) => {
  const { json } = await gateway.call("GET", "/openapi.json", viewer);
  const without: string[] = [];
  let found = 0;
  const walk = (at: string, part: unknown): void => {
    if (!isRecord(part)) return;
    const { type, enum: values } = part;
    if (Array.isArray(type) && type.includes("null") && Array.isArray(values)) {
      found += 1;
      if (!values.includes(null)) without.push(at);
    }
    for (const [name, inner] of Object.entries(part)) walk(`${at}/${name}`, inner);
  };
  walk("", json);
  expect(found).toBeGreaterThan(5);
  expect(without).toEqual([]);
});

test("the API's description lists the codes of each field that has one", async ({
  gateway,
  viewer,
}) => {
  const { json } = await gateway.call("GET", "/openapi.json", viewer);
  const without: string[] = [];
  let found = 0;
  const walk = (at: string, part: unknown): void => {
    if (!isRecord(part)) return;
    const { properties } = part;
    for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
      if (!/^(code|reasonCode)$/.test(name) || OTHER_CODES.test(at)) continue;
      found += 1;
      if (!isRecord(schema) || !("enum" in schema)) without.push(`${at}.${name}`);
    }
    for (const [name, inner] of Object.entries(part)) walk(`${at}/${name}`, inner);
  };
  walk("", json);
  expect(found).toBeGreaterThan(15);
  expect(without).toEqual([]);
});

test("the API's description names the refusal statuses of each operation", async ({
  gateway,
  viewer,
}) => {
  const { json } = await gateway.call("GET", "/openapi.json", viewer);
  const paths = json["paths"] as Record<string, Record<string, { readonly responses: object }>>;
  for (const [path, methods] of Object.entries(paths)) {
    if (!path.startsWith("/v1/")) continue;
    for (const [method, { responses }] of Object.entries(methods)) {
      const [found, changes] = [Object.keys(responses), method !== "get"];
      const refusals = ["400", "401", "403", "404", "422", "429", "502", "503"];
      if (changes) refusals.push("409");
      expect(found, `${method} ${path}`).toEqual(expect.arrayContaining(refusals));
    }
  }
});

test.for([
  ["GET", "/v1/incidents", "/v1/incidents?business=nobody", {}],
  ["GET", "/v1/reports", "/v1/reports?month=2026-13", {}],
  ["GET", "/v1/releases", "/v1/releases?by=nobody", {}],
  ["GET", "/v1/runs/{id}", "/v1/runs/none", {}],
  ["DELETE", "/v1/holds/{id}", "/v1/holds/none", {}],
  ["POST", "/v1/holds", "/v1/holds", { body: "all", headers: { "content-type": "text/plain" } }],
  ["POST", "/v1/holds", "/v1/holds", { body: "{", headers: JSON_TYPE }],
  ["POST", "/v1/runs", "/v1/runs", { body: '{"playbook":"none"}', headers: JSON_TYPE }],
] as const)(
  "a refusal of %s %s is described: %s",
  async ([method, path, asked, request], { gateway, viewer }) => {
    const admin = await gateway.token("ada", ["admin"]);
    const headers = {
      authorization: `Bearer ${admin}`,
      ...("headers" in request && request.headers),
    };
    const answer = await fetch(`${gateway.url}${asked}`, { ...request, method, headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const { json } = await gateway.call("GET", "/openapi.json", viewer);
    const paths = json["paths"] as Record<string, Record<string, { readonly responses: object }>>;
    const { responses = {} } = paths[path]?.[method.toLowerCase()] ?? {};
    expect(Object.keys(responses)).toContain(String(answer.status));
  },
);

test("the API's description of webhooks says how they are signed, and has an example event", async ({
  gateway,
  viewer,
}) => {
  const answer = await gateway.call("GET", "/openapi.json", viewer);
  const paths = answer.json["paths"] as Record<string, { readonly post?: object }>;
  const { post } = paths["/webhooks/{business}"] ?? {};
  expect(post).toMatchObject({
    parameters: expect.arrayContaining([
      expect.objectContaining({
        name: "service-signature",
        description: expect.stringContaining("HMAC-SHA256 of <t>.<raw body>"),
      }),
    ]),
    requestBody: {
      content: { "application/json": { example: { type: expect.toBeOneOf([...eventTypes]) } } },
    },
  });
});

test("the metrics cover requests, the inbox, webhooks and the process", async ({
  gateway,
  viewer,
}) => {
  await gateway.call("GET", "/v1/runs", viewer);
  const answer = await gateway.call("GET", "/metrics", viewer);
  expect(answer.headers.get("content-type")).toContain("text/plain");
  for (const name of [
    "payrun_gateway_request_seconds_count",
    "payrun_inbox_undispatched 0",
    "payrun_webhooks_total",
    "process_cpu_seconds_total",
  ]) {
    expect(answer.text).toContain(name);
  }
  expect(answer.text).toContain('route="/v1/runs"');
});
