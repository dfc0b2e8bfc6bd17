import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAIN, payrun, type CliResult } from "../cli/cli.ts";
import { machineEnv } from "../support/machine-env.ts";

/** No server listens on port 9 of this machine. */
const NOWHERE = "127.0.0.1:9";

let home: string;
let taken: Server;
let takenPort: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "payrun-surfaces-"));
  taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  takenPort = String(typeof address === "object" && address !== null ? address.port : 0);
});

afterAll(() => {
  taken.close();
  rmSync(home, { recursive: true, force: true });
});

function at(args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  return payrun(args, { cwd: home, env: { TEMPORAL_ADDRESS: NOWHERE, ...env } });
}

/** Every failure says in one line what is wrong, without a stack trace. */
function expectClear({ stderr }: CliResult, what: RegExp): void {
  expect(stderr).toMatch(what);
  expect(stderr).not.toMatch(/\n\s+at |node:internal|\.ts:\d/);
}

test.each<[string, string[], Record<string, string>, RegExp]>([
  [
    "a gateway that nobody has started",
    ["status"],
    { PAYRUN_GATEWAY_URL: `http://${NOWHERE}` },
    /payrun up/,
  ],
  ["a store that isn't there", ["token", "list"], {}, /no Payrun store.*payrun up/],
  [
    "a store that is something else",
    ["token", "list"],
    { PAYRUN_DATABASE_URL: "sqlite:foreign.db" },
    /not a SQLite database/,
  ],
])(
  "if %s can't be reached, a command exits with 4, one document and how to start it",
  async (_what, args, env, says) => {
    writeFileSync(join(home, "foreign.db"), "no database at all");
    const result = await at([...args, "--json"], env);
    expect(result.code).toBe(4);
    expect(result.json()).toMatchObject({ error: expect.any(String), message: expect.any(String) });
    expectClear(result, says);
  },
);

test("a worker without Temporal exits with 4, its address, and the setting that names it", async () => {
  const result = await at(["worker"]);
  expect(result.code).toBe(4);
  expectClear(
    result,
    /127\.0\.0\.1:9: nothing listens there\. TEMPORAL_ADDRESS.* names it: start that one .* or unset this/,
  );
});

test.each([
  ["gateway", "PAYRUN_GATEWAY_PORT"],
  ["sandbox", "PAYRUN_SANDBOX_PORT"],
])("a %s whose configured port is taken names the setting, exit 4", async (part, setting) => {
  const result = await at([part], { [setting]: takenPort });
  expect(result.code).toBe(4);
  expectClear(result, new RegExp(setting));
});

test("without Temporal, the gateway serves what the store knows, and a launch exits with 4", async () => {
  const env = { PAYRUN_HOME: home, PAYRUN_GATEWAY_PORT: "0", TEMPORAL_ADDRESS: NOWHERE };
  const business = {
    PAYMENTS_API_URL: "http://127.0.0.1:9",
    PAYMENTS_API_TOKEN: "none",
    PAYMENTS_BUSINESS_ID: "biz_1",
  };
  const child = spawn(process.execPath, [MAIN, "gateway"], {
    cwd: home,
    env: { ...machineEnv(), ...env, ...business },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { url } = JSON.parse(line) as { url: string };
    const ready = await fetch(`${url}/ready`);
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({
      status: 200,
      body: { status: "ready", store: "ok", temporal: "unreachable" },
    });
    const as = { ...env, ...business, PAYRUN_GATEWAY_URL: url };
    const made = await at(["token", "bootstrap", "ada", "bea", "--json"], as);
    const [first] = made.json<{ items: { token: string }[] }>().items;
    const ada = { ...as, PAYRUN_TOKEN: first?.token ?? "" };
    expect((await at(["status", "--json"], ada)).json()).toMatchObject({
      items: [],
      totalCount: 0,
    });
    writeFileSync(join(home, "weekly.yaml"), "kind: pay-run\n");
    const launched = await at(["launch", "weekly.yaml", "--period", "2026-03-02", "--json"], ada);
    expect(launched.code).toBe(4);
    expect(launched.json()).toMatchObject({ message: expect.stringContaining("Temporal") });
    expect((await at(["status", "nothing"], ada)).code).toBe(2);
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
});
