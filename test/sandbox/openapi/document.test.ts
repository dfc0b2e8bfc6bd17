import { describe, expect } from "vitest";
import { controlSummaries } from "../../../src/sandbox/openapi/control.ts";
import { bodyExamples } from "../../../src/sandbox/openapi/examples.ts";
import { operations } from "../../../src/sandbox/operations.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";

interface Document {
  openapi: string;
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: Record<string, Record<string, unknown>>;
}

interface DocumentedOperation {
  operationId: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters: { name?: string; in?: string; $ref?: string }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
  responses: Record<string, unknown>;
}

const it = sharedSandboxTest().extend("document", { scope: "file" }, async ({ service }) => {
  const answer = await fetch(`${service.url}/openapi.json`);
  expect(answer.headers.get("content-type")).toBe("application/json");
  return (await answer.json()) as Document;
});

/** Returns what a `$ref` of the document points at; undefined if it points nowhere. */
function resolve(document: Document, pointer: string): unknown {
  const names = pointer.replace(/^#\//, "").split("/");
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
}

function references(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string" ? [member] : references(member),
  );
}

describe("the document at /openapi.json", () => {
  it("the document is OpenAPI 3.1, and every reference in it resolves", ({ document }) => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const broken = references(document).filter(
      (pointer) => resolve(document, pointer) === undefined,
    );
    expect(broken).toEqual([]);
  });

  it("the document describes every operation with its name, its scopes and its group", ({
    document,
  }) => {
    for (const { name, method, path, scopes } of operations) {
      const described = document.paths[path]?.[method.toLowerCase()];
      expect(described?.operationId).toBe(name);
      expect(described?.tags).not.toContain("Other");
      expect(described?.security.flatMap(({ bearer = [] }) => bearer)).toEqual(scopes);
    }
  });

  it("the document lists each operation's success status, 401 and 403", ({ document }) => {
    for (const { method, path, answer } of operations) {
      const { responses } = document.paths[path]?.[method.toLowerCase()] ?? { responses: {} };
      const statuses = Object.keys(responses);
      expect(statuses).toEqual(expect.arrayContaining([String(answer.status), "401", "403"]));
    }
  });

  it("the document says whether an operation's Idempotency-Key is required or optional", ({
    document,
  }) => {
    for (const { name, method, path, idempotency } of operations) {
      const refs = document.paths[path]?.[method.toLowerCase()]?.parameters.map(({ $ref }) => $ref);
      const has = (key: string) => refs?.includes(`#/components/parameters/${key}`);
      expect([name, has("RequiredKey")]).toEqual([name, idempotency === "required"]);
      expect([name, has("OptionalKey")]).toEqual([name, idempotency === "optional"]);
    }
  });

  it("every operation with a body that is not multipart has a valid example", () => {
    for (const { name, bodySchema, bodyKind } of operations) {
      if (bodySchema === undefined || bodyKind === "multipart") continue;
      expect([name, name in bodyExamples]).toEqual([name, true]);
      expect([name, bodySchema.safeParse(bodyExamples[name]).error]).toEqual([name, undefined]);
    }
    const known = new Set(operations.map(({ name }) => name));
    expect(Object.keys(bodyExamples).filter((name) => !known.has(name))).toEqual([]);
  });

  it("the document describes every route of the control API, none of which takes a token", ({
    document,
  }) => {
    const routes = Object.entries(document.paths)
      .filter(([path]) => path.startsWith("/sandbox/"))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, described]) => {
          expect(described).toMatchObject({ tags: ["Sandbox control"], security: [] });
          return `${method.toUpperCase()} ${path}`;
        }),
      );
    expect(routes.toSorted()).toEqual(Object.keys(controlSummaries).toSorted());
  });

  it("the page at /docs loads all its files from the sandbox itself", async ({ sandbox }) => {
    const page = await (await fetch(`${sandbox.url}/docs`)).text();
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
    expect(loaded.length).toBeGreaterThan(2);
    for (const address of loaded) {
      expect(address).toMatch(/^\/docs\//);
      const answer = await fetch(`${sandbox.url}${address}`);
      expect([address, answer.status]).toEqual([address, 200]);
      await answer.arrayBuffer();
    }
    const start = await (await fetch(`${sandbox.url}/docs/start.js`)).text();
    expect(start).not.toMatch(/https?:/);
  });
});
