import { describe, expect } from "vitest";
import { allScopes } from "../../../src/sandbox/http/tokens.ts";
import { operations } from "../../../src/sandbox/operations.ts";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import { unique } from "../world.ts";
import { makeIds, paramsOf, pathOf, validBody } from "./registry.ts";

const it = sharedSandboxTest({ fixture: "two-businesses" })
  .extend("ids", { scope: "file" }, ({ service }) => makeIds(service))
  .extend("tokens", { scope: "file" }, async ({ service }) => {
    const tokens = new Map<string, string>();
    for (const scope of allScopes) {
      tokens.set(scope, await service.control.token(undefined, { scopes: [scope] }));
    }
    return tokens;
  });

const forbidden = '{"statusCode":403,"message":"Forbidden"}';
const unauthorized = '{"statusCode":401,"message":"Unauthorized"}';

async function send(
  sandbox: TestSandbox,
  operation: (typeof operations)[number],
  authorization: string | undefined,
  path: string,
): Promise<{ status: number; text: string }> {
  const { body, headers } = validBody(operation);
  const takesKey = operation.idempotency === "required";
  const response = await fetch(`${sandbox.url}${path}`, {
    method: operation.method,
    ...(body !== undefined && { body }),
    headers: {
      ...(headers as Record<string, string> | undefined),
      ...(authorization !== undefined && { authorization }),
      ...(takesKey && { "idempotency-key": unique("scopes") }),
    },
  });
  return { status: response.status, text: await response.text() };
}

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  "%s",
  (_, operation) => {
    const unknown = paramsOf(operation).map((name) => [name, `no-such-${name}`] as const);

    it("an operation is open to each of its scopes and to no other", async ({
      sandbox,
      tokens,
    }) => {
      const path = pathOf(operation, Object.fromEntries(unknown));
      const opened = await Promise.all(
        allScopes.map(async (scope) => {
          const answer = await send(sandbox, operation, `Bearer ${tokens.get(scope)}`, path);
          return answer.status === 403 && answer.text === forbidden ? [] : [scope];
        }),
      );
      expect(opened.flat().toSorted()).toEqual(operation.scopes.toSorted());
    });

    it("an operation without a valid token returns 401 before it looks anything up", async ({
      sandbox,
    }) => {
      const path = pathOf(operation, Object.fromEntries(unknown));
      for (const authorization of [undefined, "Bearer x.y.z", "Basic abc"]) {
        const answer = await send(sandbox, operation, authorization, path);
        expect(answer).toEqual({ status: 401, text: unauthorized });
      }
    });
  },
);

describe("another organization's resources", () => {
  const withIds = operations.filter((operation) => paramsOf(operation).length > 0);

  it.for(withIds.map((operation) => [operation.name, operation] as const))(
    "%s returns 404 for another organization's resources, and refuses unknown ids",
    async ([_, operation], { sandbox, ids }) => {
      const missing = paramsOf(operation).filter((name) => !ids[name]);
      expect(missing, "the test makes no resource for this name in a path").toEqual([]);
      const stranger = `Bearer ${sandbox.businesses[1]?.token}`;
      const answer = await send(sandbox, operation, stranger, pathOf(operation, ids));
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([404, { error: "not_found" }]);
      const owner = `Bearer ${sandbox.business.token}`;
      const unknown = paramsOf(operation).at(-1) ?? "";
      const path = pathOf(operation, { ...ids, [unknown]: "nobody-knows-it" });
      const nowhere = await send(sandbox, operation, owner, path);
      expect([404, 400, 422]).toContain(nowhere.status);
    },
  );
});
