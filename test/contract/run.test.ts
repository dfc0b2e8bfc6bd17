import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startOtherService } from "../support/other-service.ts";
import { startSandbox } from "../support/sandbox.ts";

const script = fileURLToPath(new URL("../../scripts/conformance.mjs", import.meta.url));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs it as a user would. */
function conformance(...args: string[]): Promise<Ended> {
  const env = { ...process.env, CONFORMANCE_TOKEN: "" };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) => {
      const code = typeof error?.code === "number" ? error.code : error === null ? 0 : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

test.each([
  [["--token", "t"], "--url is missing"],
  [["--url", "http://a"], "--token is missing"],
  [["--url", "ftp://a", "--token", "t"], "http or https"],
  [["--url", "http://a", "--token", "t", "--read-only", "--with-payments"], "contradict"],
  [["--url", "http://a", "--token", "t", "--nonsense"], "--nonsense"],
  [["--url", "http://127.0.0.1:1", "--token", "t"], "can't be reached"],
])(
  "the conformance command refuses %j with the mistake and its usage, and exits with 2",
  async (args, why) => {
    const { code, stdout, stderr } = await conformance(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
    expect(stderr).toContain("Usage: npm run conformance");
  },
);

test("the conformance command shows its options with --help and exits with 0", async () => {
  const { code, stdout } = await conformance("--help");
  expect(code).toBe(0);
  expect(stdout).toContain("--with-payments");
});

test("the conformance command reports a refused token without showing it", async () => {
  const server = createServer((_request, response) => response.writeHead(401).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { code, stderr } = await conformance(
    "--url",
    `http://127.0.0.1:${port}`,
    "--token",
    "planted-token",
  );
  expect(code).toBe(2);
  expect(stderr).toContain("refuses the token");
  expect(stderr).not.toContain("planted-token");
});

test("a service that meets the specification passes, and all that was created is removed through the API", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const { token } = sandbox.business;
  const ended = await conformance("--url", sandbox.url, "--token", token, "--with-payments");
  expect(ended.stdout).not.toContain("×");
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/↓.*\[it needs a sandbox's control API\]/);
  expect(ended.stdout + ended.stderr).not.toContain(token);
  const { body: active } = await sandbox.api("GET", "/v1/contacts?status=active&pageSize=1");
  expect(active["totalCount"]).toBe(0);
  const { body: endpoints } = await sandbox.api("GET", "/v1/webhook-endpoints");
  expect(endpoints["items"]).toEqual([]);
  const { body: payments } = await sandbox.api<{ items: { status: string }[] }>(
    "GET",
    "/v1/payments",
  );
  expect(new Set(payments.items.map(({ status }) => status))).toEqual(new Set(["cancelled"]));
  const received = await sandbox.control.requests();
  expect(received.filter(({ path }) => path.startsWith("/sandbox"))).toEqual([]);
  expect(await sandbox.control.ledger()).toEqual([]);
});

test("a service with only a part of the API fails sentence by sentence, and --read-only creates nothing", async () => {
  const other = await startOtherService();
  onTestFinished(() => other.stop());
  const ended = await conformance("--url", other.url, "--token", other.token, "--read-only");
  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/✓.*payments carry the prefix \/v1/);
  expect(ended.stdout).toMatch(/×.*GET \/api\/businesses lists/);
  expect(ended.stdout).toMatch(/↓.*\[it would create records\]/);
  expect(other.book.payments).toEqual([]);
});
