import { expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "./local-service.ts";

/** Stands for any argument: an id where a path needs one, else a body, a file or options. */
const anything = {
  toString: () => "id",
  idempotencyKey: "key",
  amountDollars: 1,
  documentType: "einLetter",
  content: new Uint8Array([1]),
  name: "file",
  type: "image/png",
  file: { content: new Uint8Array([1]), name: "file", type: "image/png" },
};

/** Returns every method of a client's resources, except those that page through whole lists. */
function methodsOf(client: object): ((...args: unknown[]) => unknown)[] {
  const resources = objectsIn(client);
  return [...resources, ...resources.flatMap(objectsIn)].flatMap((resource) =>
    namesOf(resource).flatMap((name) => {
      const method: unknown = Reflect.get(resource, name);
      if (typeof method !== "function" || /^(constructor|iterate.*|listAll)$/.test(name)) return [];
      return [(...args: unknown[]): unknown => Reflect.apply(method, resource, args)];
    }),
  );
}

function objectsIn(owner: object): object[] {
  return Object.values(owner).filter(
    (value: unknown): value is object => typeof value === "object" && value !== null,
  );
}

function namesOf(resource: object): string[] {
  const names: string[] = [];
  let owner: unknown = Object.getPrototypeOf(resource);
  while (typeof owner === "object" && owner !== null && owner !== Object.prototype) {
    names.push(...Object.getOwnPropertyNames(owner));
    owner = Object.getPrototypeOf(owner);
  }
  return [...new Set(names)];
}

/** The sandbox has this operation; the specification does not, so the client can't count on it. */
const notSpecified = ["GET /v1/webhook-endpoints/{webhookEndpointId}"];

test("the client has a method for every specified operation that the sandbox describes", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const { body } = await sandbox.api<{ paths: Record<string, object> }>("GET", "/openapi.json");
  const described = Object.entries(body.paths)
    .filter(([path]) => path.startsWith("/v1/") || path.startsWith("/api/"))
    .flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
  expect(described.length).toBeGreaterThan(60);

  const service = await startService((_received, response) => void response.writeHead(400).end());
  const ask = async (call: (...args: unknown[]) => unknown, count: number): Promise<void> => {
    await call(...Array.from({ length: count }, () => anything));
  };
  for (const call of methodsOf(service.client())) {
    // Each call is refused, by the client or the service; only the requested operation counts.
    for (const count of [0, 2, 4]) await ask(call, count).catch(() => undefined);
  }
  const asked = service.received.map(({ method, url }) => `${method} ${url.split("?")[0]}`);
  const missing = described.filter((operation) => {
    const shape = new RegExp(`^${operation.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return !asked.some((request) => shape.test(request));
  });
  expect(missing).toEqual(notSpecified);
});
