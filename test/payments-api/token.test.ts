import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { NoAnswerError } from "../../src/payments-api/index.ts";
import { type LocalService, rejection, sendJson, startService } from "./local-service.ts";

const contact = { id: "c", type: "payee", status: "active", paymentReady: true };

function jwt(expiresAtMs: number, name = "x"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ exp: expiresAtMs / 1000, name })}.signature`;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "payrun-token-"));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

function bearers(service: LocalService) {
  return service.received.map(({ headers }) => headers.authorization?.replace("Bearer ", ""));
}

test("a token in a file is sent without its line break, and read again when the file changes", async () => {
  const file = join(await folder(), "token");
  await writeFile(file, "one\n");
  const service = await startService((_received, response) => sendJson(response, 200, contact));
  const client = service.client({ token: { file } });
  await client.contacts.get("c");
  expect(bearers(service)).toEqual(["one"]);
  await writeFile(file, "number-two\n");
  await expect
    .poll(async () => {
      await client.contacts.get("c");
      return bearers(service).at(-1);
    })
    .toBe("number-two");
});

test("a token file that is missing for a moment does not stop reads", async () => {
  const file = join(await folder(), "token");
  await writeFile(file, "one");
  const service = await startService((_received, response) => sendJson(response, 200, contact));
  const client = service.client({ token: { file } });
  await client.contacts.get("c");
  await rm(file);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.contacts.get("c");
  expect(bearers(service)).toEqual(["one", "one"]);
});

test("a read refused with 401 is tried once more with a fresh token", async () => {
  const file = join(await folder(), "token");
  await writeFile(file, "old");
  const service = await startService((received, response) =>
    received.headers.authorization === "Bearer new"
      ? sendJson(response, 200, contact)
      : sendJson(response, 401, { statusCode: 401, message: "Unauthorized" }),
  );
  const client = service.client({ token: { file } });
  await rejection(client.contacts.get("c"));
  expect(bearers(service)).toEqual(["old", "old"]);
  await writeFile(file, "new");
  await client.contacts.get("c");
  expect(bearers(service).at(-1)).toBe("new");
});

test("a write refused with 401 is not tried again, and the next request has a fresh token", async () => {
  const counter = join(await folder(), "runs");
  const service = await startService((_received, response) =>
    sendJson(response, 401, { statusCode: 401, message: "Unauthorized" }),
  );
  const client = service.client({
    token: { command: `echo run >> '${counter}'; echo token-$(wc -l < '${counter}' | tr -d ' ')` },
  });
  const write = { method: "POST" as const, path: "/v1/payments", bodyText: "{}" };
  await client.sendMoneyWrite({ ...write, idempotencyKey: "a" });
  await client.sendMoneyWrite({ ...write, idempotencyKey: "a" });
  expect(bearers(service)).toEqual(["token-1", "token-2"]);
});

test("a token command runs once for many requests, and again when its token is about to expire", async () => {
  const path = join(await folder(), "token");
  const startMs = Date.parse("2026-11-21T10:00:00Z");
  let nowMs = startMs;
  const first = jwt(startMs + 3_600_000, "first");
  const second = jwt(startMs + 7_200_000, "second");
  await writeFile(path, first);
  const service = await startService((_received, response) => sendJson(response, 200, contact));
  const client = service.client({ token: { command: `cat '${path}'` }, now: () => nowMs });
  await Promise.all([client.contacts.get("c"), client.contacts.get("c"), client.contacts.get("c")]);
  await writeFile(path, second);
  nowMs = startMs + 3_500_000;
  await client.contacts.get("c");
  expect(bearers(service)).toEqual([first, first, first, first]);
  // The client never runs a command for expiry more than once in a few real seconds.
  const laterMs = performance.now() + 10_000;
  vi.spyOn(performance, "now").mockImplementation(() => laterMs);
  onTestFinished(() => void vi.restoreAllMocks());
  nowMs = startMs + 3_580_000;
  await client.contacts.get("c");
  expect(bearers(service).at(-1)).toBe(second);
});

test("after invalidateToken the token is fetched again", async () => {
  const path = join(await folder(), "token");
  await writeFile(path, "one");
  const service = await startService((_received, response) => sendJson(response, 200, contact));
  const client = service.client({ token: { command: `cat '${path}'` } });
  await client.contacts.get("c");
  await writeFile(path, "two");
  await client.contacts.get("c");
  client.invalidateToken();
  await client.contacts.get("c");
  expect(bearers(service)).toEqual(["one", "one", "two"]);
});

test.each([
  [{ command: "echo secret-output; echo secret-error >&2; exit 3" }, "exit code 3"],
  [{ command: "true" }, "gave no token"],
  [{ command: "echo two words" }, "not a token"],
  [{ file: "/nonexistent/token" }, "ENOENT"],
  [{ value: "" }, "gave no token"],
])(
  "a source that gives no token (%j) is reported without showing what was read",
  async (token, why) => {
    const service = await startService((_received, response) => sendJson(response, 200, contact));
    const error = await rejection(service.client({ token }).contacts.get("c"));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ code: "token_unavailable", outcome: "not_applied" });
    expect(String(error)).toContain(why);
    expect(String(error)).not.toMatch(/secret|two words/);
    expect(service.received).toHaveLength(0);
  },
);
