import { OpenAPIHono } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { addOperations } from "../../src/gateway/app.ts";
import type { GatewayContext } from "../../src/gateway/http/context.ts";
import { REQUESTS } from "../../src/gateway/http/examples/requests.ts";
import { Routes } from "../../src/gateway/http/route.ts";
import { startTestGateway } from "./support/gateway.ts";

test("each operation has examples of its request and its answers that their schemas accept", () => {
  const routes = new Routes(new OpenAPIHono(), {} as GatewayContext);
  addOperations(routes);
  expect(routes.examples.length).toBeGreaterThan(60);
  const wrong = routes.examples.flatMap(({ operation, schema, example }) => {
    const { error } = schema.safeParse(example);
    return error === undefined ? [] : [{ operation, example, error: error.message }];
  });
  expect(wrong).toEqual([]);
  const operations = new Set(routes.examples.map(({ operation }) => operation));
  expect(Object.keys(REQUESTS).filter((operation) => !operations.has(operation))).toEqual([]);
});

test("the API's description has the examples", async () => {
  const gateway = await startTestGateway();
  try {
    const { json } = await gateway.call("GET", "/openapi.json", null);
    const paths = json["paths"] as Record<string, Record<string, Described>>;
    const lacking = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody, responses }]) => {
        const main = Object.entries(responses).filter(([status]) => status.startsWith("2"));
        const shown = [requestBody, ...main.map(([, answer]) => answer)]
          .map((each) => each?.content?.["application/json"])
          .filter((content) => content !== undefined);
        return shown.every(({ example }) => example !== undefined) ? [] : [`${method} ${path}`];
      }),
    );
    expect(lacking).toEqual([]);
  } finally {
    await gateway.stop();
  }
});

interface Content {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}
interface Described {
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
