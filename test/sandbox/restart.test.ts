import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { makeBill, pay, paymentsOf, statusesOf } from "./world.ts";

const program = fileURLToPath(new URL("../../src/sandbox/main.ts", import.meta.url));

const it = test.extend("sandbox", async () => {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  return sandbox;
});

/** Creates a data directory that no other sandbox uses. */
function anotherDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "payrun-restart-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function bankPid(sandbox: TestSandbox): Promise<number> {
  const { bank } = (await sandbox.control.health()) as unknown as { bank: { pid: number } };
  return bank.pid;
}

it("after kill -9 the sandbox still has all it had acknowledged, clocks and tokens included", async ({
  sandbox,
}) => {
  const bills = [];
  for (let i = 0; i < 5; i += 1) bills.push(await makeBill(sandbox));
  await sandbox.control.advance("P3D");
  await sandbox.control.advanceWire("PT30M");
  const clock = await sandbox.control.clock();
  const answers = await Promise.all(
    bills.map((payableId, i) => pay(sandbox, { payableId }, `k${i}`)),
  );
  await sandbox.restart("SIGKILL");
  for (const [i, payableId] of bills.entries()) {
    expect(await paymentsOf(sandbox, payableId)).toMatchObject([
      { id: answers[i]?.body.payments[0]?.id },
    ]);
    expect((await pay(sandbox, { payableId }, `k${i}`)).text).toBe(answers[i]?.text);
  }
  const later = await sandbox.control.clock();
  expect(Date.parse(later.bank)).toBeGreaterThanOrEqual(Date.parse(clock.bank));
  expect(Date.parse(later.wire)).toBeGreaterThanOrEqual(Date.parse(clock.wire));
  await sandbox.control.advance("P7D");
  for (const payableId of bills)
    expect(await statusesOf(sandbox, payableId)).toEqual(["completed"]);
  expect((await sandbox.control.ledger()).map(({ kind }) => kind)).toEqual([
    ...bills.map(() => "debit"),
    ...bills.map(() => "credit"),
  ]);
});

it("a request that died with the sandbox conflicts at first, then is payment_unconfirmed", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([
    { path: "/v1/payments", when: "during", effect: "delay", delayMs: 60_000, times: 1 },
  ]);
  const lost = pay(sandbox, { payableId }, "key").catch(() => undefined);
  await expect
    .poll(() => pay(sandbox, { payableId }, "key").then(({ body }) => body["error"]))
    .toBe("idempotency_conflict");
  await sandbox.restart("SIGKILL");
  await lost;
  expect((await pay(sandbox, { payableId }, "key")).body["error"]).toBe("idempotency_conflict");
  await sandbox.control.advanceWire("PT5M");
  expect((await pay(sandbox, { payableId }, "key")).body["error"]).toBe("payment_unconfirmed");
  expect(await paymentsOf(sandbox, payableId)).toEqual([]);
});

it("an effect that was committed before the sandbox died is replayed under its key", async ({
  sandbox,
}) => {
  const payableId = await makeBill(sandbox);
  await sandbox.control.faults([
    { path: "/v1/payments", when: "after", effect: "delay", delayMs: 60_000, times: 1 },
  ]);
  const lost = pay(sandbox, { payableId }, "key").catch(() => undefined);
  await expect.poll(() => paymentsOf(sandbox, payableId)).toHaveLength(1);
  await sandbox.restart("SIGKILL");
  await lost;
  expect((await pay(sandbox, { payableId }, "key")).status).toBe(201);
  expect(await paymentsOf(sandbox, payableId)).toHaveLength(1);
});

it.for(["SIGTERM", "SIGKILL"] as const)(
  "%s of the sandbox also ends its bank's process",
  async (signal, { sandbox }) => {
    const pid = await bankPid(sandbox);
    expect(isAlive(pid)).toBe(true);
    await sandbox.kill(signal);
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

it("with --exit-with-parent the sandbox exits when its standard input is closed", async () => {
  const child = spawn(
    process.execPath,
    [program, "--port", "0", "--data-dir", anotherDirectory(), "--exit-with-parent"],
    { stdio: ["pipe", "pipe", "ignore"] },
  );
  await once(child.stdout, "data");
  const exited = once(child, "exit");
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
});

it("a sandbox refuses a data directory that another sandbox uses", ({ sandbox }) => {
  const second = spawnSync(
    process.execPath,
    [program, "--port", "0", "--data-dir", sandbox.dataDir],
    { encoding: "utf8" },
  );
  expect(second.status).toBe(2);
  expect(second.stderr).toBe("sandbox: another sandbox uses this data directory\n");
});

it("a sandbox whose port is taken exits 2 and names --port", ({ sandbox }) => {
  const { port } = new URL(sandbox.url);
  const { status, stderr } = spawnSync(
    process.execPath,
    [program, "--port", port, "--data-dir", anotherDirectory()],
    { encoding: "utf8" },
  );
  expect(status).toBe(2);
  expect(stderr).toContain("--port");
});
