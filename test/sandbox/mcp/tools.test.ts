import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished } from "vitest";
import { operations } from "../../../src/sandbox/operations.ts";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { makeBill, unique } from "../world.ts";

const it = sandboxTest("two-businesses");

async function connect(
  sandbox: TestSandbox,
  token = sandbox.business.token,
  mode: "legacy" | "auto" = "auto",
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${sandbox.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

interface Result {
  isError: boolean;
  status: unknown;
  text: string;
  content: Record<string, unknown>;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Result> {
  const result = await client.callTool({ name, arguments: args });
  const [first] = result.content;
  return {
    isError: result.isError === true,
    status: result._meta?.["payments-service/status"],
    text: first?.type === "text" ? first.text : "",
    content: (result.structuredContent ?? {}) as Record<string, unknown>,
  };
}

describe("the tools", () => {
  it("every operation is a tool, once, with schemas of its input and its result", async ({
    sandbox,
  }) => {
    const client = await connect(sandbox);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      operations.map(({ name }) => name).toSorted(),
    );
    for (const { name, inputSchema, outputSchema } of tools) {
      const operation = operations.find((candidate) => candidate.name === name);
      const needsKey = operation?.idempotency === "required";
      const takesKey = needsKey || operation?.idempotency === "optional";
      expect([name, inputSchema.required?.includes("idempotencyKey") ?? false]).toEqual([
        name,
        needsKey,
      ]);
      expect([name, "idempotencyKey" in (inputSchema.properties ?? {})]).toEqual([name, takesKey]);
      const answersNothing = operation?.answer.status === 204;
      expect([name, outputSchema === undefined]).toEqual([name, answersNothing]);
    }
  });

  it("a tool takes path, body and key as one object and returns what REST returns", async ({
    sandbox,
  }) => {
    const client = await connect(sandbox);
    const created = await call(client, "createContact", {
      displayName: "Acme Paper",
      emails: ["a@acme.example"],
    });
    expect(created).toMatchObject({
      isError: false,
      status: 201,
      content: { displayName: "Acme Paper" },
    });
    const contactId = String(created.content["id"]);
    const read = await call(client, "getContact", { contactId });
    expect(read.content).toEqual((await sandbox.api("GET", `/v1/contacts/${contactId}`)).body);
    const updated = await call(client, "updateContact", { contactId, netTerms: 30 });
    expect(updated.content).toMatchObject({ id: contactId, netTerms: 30 });
    const page = await call(client, "listContacts", { search: "acme", pageSize: 1 });
    expect(page.content).toMatchObject({ totalCount: 1, items: [{ id: contactId }] });
  });

  it("a tool can call an operation whose response has no body", async ({ sandbox }) => {
    const client = await connect(sandbox);
    const made = await call(client, "createWebhookEndpoint", { url: "https://example.com/hook" });
    const webhookEndpointId = String(made.content["id"]);
    const deleted = await call(client, "deleteWebhookEndpoint", { webhookEndpointId });
    expect(deleted).toMatchObject({ isError: false, status: 204 });
    expect(await call(client, "getWebhookEndpoint", { webhookEndpointId })).toMatchObject({
      isError: true,
      status: 404,
      content: { error: "not_found" },
    });
  });

  it("repeating a createPayment call with one key pays the bill once", async ({ sandbox }) => {
    const client = await connect(sandbox);
    const payableId = await makeBill(sandbox);
    const args = { payableId, fundingSource: "balance", idempotencyKey: unique("key") };
    const first = await call(client, "createPayment", args);
    expect(first).toMatchObject({ isError: false, status: 201, content: { payableId } });
    const second = await call(client, "createPayment", args);
    expect(second.text).toBe(first.text);
    const listed = await sandbox.api("GET", `/v1/payments?payableId=${payableId}`);
    expect(listed.body["totalCount"]).toBe(1);
  });
});

describe("errors are results of the tool, in the shape of REST", () => {
  it("a validation error names the invalid field", async ({ sandbox }) => {
    const client = await connect(sandbox);
    expect(await call(client, "createContact", { displayName: 7 })).toMatchObject({
      isError: true,
      status: 400,
      content: { error: "validation_error", details: { field: "displayName" } },
    });
    expect(await call(client, "getContact", {})).toMatchObject({
      isError: true,
      status: 400,
      content: { error: "validation_error", details: { field: "contactId" } },
    });
    expect(await call(client, "listContacts", { pageSize: 101 })).toMatchObject({
      isError: true,
      status: 422,
      content: { error: "validation_error" },
    });
  });

  it.for([
    ["missing", undefined],
    ["too long", "k".repeat(65)],
    ["no text", 7],
  ])("a tool refuses an idempotency key that is %s", async ([_, idempotencyKey], { sandbox }) => {
    const client = await connect(sandbox);
    const payableId = await makeBill(sandbox);
    const args = { payableId, fundingSource: "balance", idempotencyKey };
    expect(await call(client, "createPayment", args)).toMatchObject({
      isError: true,
      status: 400,
      content: { error: "validation_error" },
    });
  });

  it("a state refusal is an error, and the call is checked again under the same key", async ({
    sandbox,
  }) => {
    const client = await connect(sandbox);
    const payableId = await makeBill(sandbox, { status: "pending_approval" });
    const args = { payableId, fundingSource: "balance", idempotencyKey: unique("key") };
    expect(await call(client, "createPayment", args)).toMatchObject({
      isError: true,
      status: 409,
      content: { error: "approval_required" },
    });
    await sandbox.control.changePayable(payableId, { status: "approved" });
    expect(await call(client, "createPayment", args)).toMatchObject({ status: 201 });
  });

  it("a tool hides another organization's resources", async ({ sandbox }) => {
    const payableId = await makeBill(sandbox);
    const stranger = await connect(sandbox, sandbox.businesses[1]?.token);
    expect(await call(stranger, "getPayable", { payableId })).toMatchObject({
      isError: true,
      status: 404,
      content: { error: "not_found" },
    });
  });

  it("a tool returns 403 if the token lacks its scope", async ({ sandbox }) => {
    const token = await sandbox.control.token(undefined, { scopes: ["contacts:read"] });
    const client = await connect(sandbox, token);
    expect(await call(client, "createContact", { displayName: "No" })).toMatchObject({
      isError: true,
      status: 403,
      content: { statusCode: 403, message: "Forbidden" },
    });
    expect(await call(client, "listContacts", {})).toMatchObject({ isError: false });
  });
});

describe("a key is one key over REST and MCP", () => {
  it("a key that is used over both REST and MCP conflicts, even with the same body", async ({
    sandbox,
  }) => {
    const client = await connect(sandbox);
    const body = { displayName: unique("Vendor") };
    const mcpFirst = unique("key");
    await call(client, "createContact", { ...body, idempotencyKey: mcpFirst });
    const rest = await sandbox.api("POST", "/v1/contacts", { body, key: mcpFirst });
    expect(rest).toMatchObject({ status: 409, body: { error: "idempotency_conflict" } });
    const restFirst = unique("key");
    const other = { displayName: unique("Vendor") };
    await sandbox.api("POST", "/v1/contacts", { body: other, key: restFirst });
    const args = { ...other, idempotencyKey: restFirst };
    expect(await call(client, "createContact", args)).toMatchObject({
      status: 409,
      content: { error: "idempotency_conflict" },
    });
  });

  it("a key that is used for two tools conflicts", async ({ sandbox }) => {
    const client = await connect(sandbox);
    const payableId = await makeBill(sandbox);
    const idempotencyKey = unique("key");
    await call(client, "retryPayment", { payableId, idempotencyKey });
    await call(client, "createPayment", { payableId, fundingSource: "balance", idempotencyKey });
    const paid = await call(client, "createPayment", {
      payableId,
      fundingSource: "balance",
      idempotencyKey: unique("key"),
    });
    const payments = paid.content["payments"] as { id: string }[] | undefined;
    const used = unique("key");
    await call(client, "createContact", { displayName: unique("V"), idempotencyKey: used });
    const args = { paymentId: payments?.[0]?.id, idempotencyKey: used };
    expect(await call(client, "cancelPayment", args)).toMatchObject({
      status: 409,
      content: { error: "idempotency_conflict" },
    });
  });
});

describe("what surrounds a call", () => {
  it("the service speaks the newest revision of MCP, and an older one with older clients", async ({
    sandbox,
  }) => {
    for (const [mode, era] of [
      ["auto", "modern"],
      ["legacy", "legacy"],
    ] as const) {
      const client = await connect(sandbox, sandbox.business.token, mode);
      expect(client.getProtocolEra()).toBe(era);
      const args = { displayName: unique("Vendor"), idempotencyKey: unique("key") };
      expect(await call(client, "createContact", args)).toMatchObject({ status: 201 });
      expect((await client.listTools()).tools).toHaveLength(operations.length);
    }
  });

  it("a call with a missing, invalid or expired token gets a 401 in the service's shape", async ({
    sandbox,
  }) => {
    const post = (headers: Record<string, string>) =>
      fetch(`${sandbox.url}/mcp`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
    const expired = await sandbox.control.token(undefined, { expiresInSeconds: 60 });
    await sandbox.control.advanceWire("PT2M");
    for (const headers of [
      {},
      { authorization: "Bearer x" },
      { authorization: `Bearer ${expired}` },
    ]) {
      const answer = await post(headers as Record<string, string>);
      expect(answer.status).toBe(401);
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/);
      expect(await answer.json()).toEqual({ statusCode: 401, message: "Unauthorized" });
    }
  });

  it("faults of an operation's route strike its tool too", async ({ sandbox }) => {
    const client = await connect(sandbox);
    const path = "/v1/contacts";
    const effects = [
      { effect: "status", status: 429, retryAfter: 7 },
      { effect: "status", status: 503 },
    ] as const;
    for (const effect of effects) {
      await sandbox.control.faults([{ method: "POST", path, when: "before", ...effect, times: 1 }]);
      const struck = await call(client, "createContact", { displayName: unique("V") });
      expect(struck).toMatchObject({ isError: true, status: effect.status });
    }
    await sandbox.control.faults([{ path, when: "after", effect: "drop", times: 1 }]);
    const args = { displayName: unique("V"), idempotencyKey: unique("key") };
    await expect(call(client, "createContact", args)).rejects.toThrow(
      /fetch failed|closed|terminated/i,
    );
    expect(await call(client, "createContact", args)).toMatchObject({ status: 201 });
    const found = await sandbox.api("GET", `/v1/contacts?search=${args.displayName}`);
    expect(found.body["totalCount"]).toBe(1);
  });

  it("a tool call is in the request log, marked as MCP", async ({ sandbox }) => {
    const client = await connect(sandbox);
    const key = unique("key");
    await call(client, "createContact", { displayName: unique("V"), idempotencyKey: key });
    const logged = (await sandbox.control.requests()).find((request) => request.key === key);
    expect(logged).toMatchObject({ method: "MCP", path: "/v1/contacts", status: 201 });
  });

  it("the service keeps working after requests that are not MCP", async ({ sandbox }) => {
    const authorization = `Bearer ${sandbox.business.token}`;
    for (const init of [
      { method: "GET" },
      { method: "DELETE" },
      { method: "POST", body: "{" },
      { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}' },
      { method: "POST", body: "[]" },
      { method: "PUT", body: "x" },
    ]) {
      const headers = { authorization, "content-type": "application/json", accept: "*/*" };
      const answer = await fetch(`${sandbox.url}/mcp`, { ...init, headers });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      await answer.text();
    }
    expect(await call(await connect(sandbox), "listContacts", {})).toMatchObject({
      isError: false,
    });
  });
});
