import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { blocksOf } from "../support/docs.ts";
import { machineEnv } from "../support/machine-env.ts";
import { hasAll } from "../support/page-programs.ts";

const CLIENT = blocksOf("docs/integrating.md", ["python"]).find((block) =>
  block.text.startsWith("# payrun_api.py\n"),
);

const AT_ONCE = { "retry-after": "0" };

type Answer = readonly [status: number, body: object, headers?: Record<string, string>] | "lost";

/** Starts a gateway that gives these answers in turn. */
async function answering(...answers: Answer[]): Promise<{ url: string; came: object[] }> {
  const came: object[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url } = request;
    const { "idempotency-key": key, authorization } = request.headers;
    came.push({ method, url, key, authorization, body: await text(request) });
    const answer = answers[came.length - 1] ?? [500, {}];
    if (answer === "lost") return void request.socket.destroy();
    const [status, body, headers = {}] = answer;
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came };
}

/** Runs Python beside the page's client, and returns what it printed. */
async function python(url: string, program: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "payrun-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "payrun_api.py"), CLIENT?.text ?? "");
  const env = { ...machineEnv(), GATEWAY: url, NO_PROXY: "*" };
  const given = ["-c", `from payrun_api import *\n${program}`];
  return (await promisify(execFile)("python3", given, { cwd: folder, env })).stdout;
}

const LAUNCH = `call("POST", "/v1/runs", "t", {"playbook": "rent"}, key="k-1")`;

describe.runIf(hasAll(["Python 3.9"], "the tests of the client on docs/integrating.md"))(
  "the client on the page for those who integrate another system",
  () => {
    test("a launch whose answer is lost, or that is to come later, is sent again as it was under the same key", async () => {
      const { url, came } = await answering(
        "lost",
        [503, { error: "store_busy", message: "later" }, AT_ONCE],
        [429, { error: "too_many_requests", message: "later" }, AT_ONCE],
        [409, { error: "in_progress", message: "later" }, AT_ONCE],
        [201, { id: "run-1" }],
      );
      expect(await python(url, `print(${LAUNCH})`)).toBe(`(201, b'{"id":"run-1"}')\n`);
      expect(came).toHaveLength(5);
      expect(new Set(came.map((each) => JSON.stringify(each)))).toEqual(
        new Set([
          JSON.stringify({
            ...{ method: "POST", url: "/v1/runs", key: "k-1", authorization: "Bearer t" },
            body: '{"playbook": "rent"}',
          }),
        ]),
      );
    });

    test("a refusal is not sent again, and carries its code and details", async () => {
      const { url, came } = await answering([
        ...[409, { error: "other_inputs", message: "no", details: { field: "inputs" } }],
      ] as const);
      const program = `try:\n    ${LAUNCH}\nexcept Refused as it:\n    print(it.status, it.code, it.details)`;
      expect(await python(url, program)).toBe("409 other_inputs {'field': 'inputs'}\n");
      expect(came).toHaveLength(1);
    });

    test("a change without a key is not sent at all", async () => {
      const { url, came } = await answering();
      const program = `try:\n    call("POST", "/v1/runs", "t", {})\nexcept ValueError:\n    print("not sent")`;
      expect(await python(url, program)).toBe("not sent\n");
      expect(came).toEqual([]);
    });
  },
);
