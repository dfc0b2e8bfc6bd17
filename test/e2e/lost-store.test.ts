import { backup, DatabaseSync } from "node:sqlite";
import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lastKept } from "../../src/store/janitor/behind.ts";
import { payrun as cli } from "../cli/cli.ts";
import { bills, PAY_ALL } from "../support/bills.ts";
import { pageText, wordsOf } from "../support/docs.ts";
import { isLong } from "../support/long.ts";
import { expectAllDone, losableTemporal } from "../support/lost-data.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { paymentRequests } from "../support/scene.ts";
import { approve, plannedRun, untilEnded } from "../support/stack.ts";

const server = losableTemporal();

function filesOf(payrun: TestPayrun): string[] {
  const path = payrun.databaseUrl.replace(/^sqlite:/, "");
  return [path, `${path}-wal`, `${path}-shm`];
}

/** Copies the store as it is now while everything runs, as sqlite3's `.backup` does. */
async function backUp(payrun: TestPayrun): Promise<string> {
  const [path = ""] = filesOf(payrun);
  const copy = join(payrun.home, `backup-${Date.now()}.db`);
  const database = new DatabaseSync(path);
  await backup(database, copy);
  database.close();
  return copy;
}

/** Stops all users of the store, puts another file or none in its place, and starts them again. */
async function replaceStore(payrun: TestPayrun, copy?: string): Promise<void> {
  await payrun.killWorkers();
  await payrun.stopGateway("SIGKILL");
  await payrun.store.close();
  for (const file of filesOf(payrun)) await rm(file, { force: true });
  const [path = ""] = filesOf(payrun);
  if (copy !== undefined) await copyFile(copy, path);
  await payrun.openStore();
  if (copy === undefined) await payrun.makeTokens();
  await payrun.startWorker();
  await payrun.startGateway();
}

interface HoldJson {
  readonly id: string;
  readonly scope: string;
  readonly author: string;
  readonly reason: string;
}

/** Returns the hold on everything that a worker has set before it began to work. */
async function holdOnAll(payrun: TestPayrun): Promise<HoldJson> {
  let all: HoldJson[] = [];
  await expect
    .poll(async () => {
      const { body } = await payrun.call<{ items: HoldJson[] }>("operator", "GET", "/v1/holds");
      all = body.items.filter(({ scope }) => scope === "all");
      return all.length;
    })
    .toBe(1);
  const [hold] = all;
  if (hold === undefined) throw new Error("nothing is on hold");
  expect(hold).toMatchObject({ author: "payrun", reason: expect.stringMatching(/older than/) });
  return hold;
}

/** Returns the service's payments with the store's record of each, as an operator compares them. */
async function compared(payrun: TestPayrun) {
  interface Listed {
    readonly onRecord: boolean;
    readonly mayBeOurs: boolean;
  }
  const path = "/v1/payments?since=2000-01-01";
  const { body } = await payrun.call<{ items: Listed[] }>("operator", "GET", path);
  return body.items.map(({ onRecord, mayBeOurs }) => ({ onRecord, mayBeOurs }));
}

async function release(payrun: TestPayrun, hold: HoldJson): Promise<void> {
  const { status } = await payrun.call("operator", "DELETE", `/v1/holds/${hold.id}`);
  expect(status).toBe(200);
}

/** Returns the commands of a drill, in its row's order. */
function commandsOfDrill(name: string): string[] {
  const row = pageText("docs/operations.md")
    .split("\n")
    .find((line) => line.startsWith(`| ${name} |`));
  return [...(row ?? "").matchAll(/`(payrun [^`]+)`/g)].map(([, command = ""]) => command);
}

describe("a store that was restored from a backup", () => {
  test.runIf(isLong)(
    "a restored store holds everything until a person releases it, then finds what was paid meanwhile",
    async () => {
      const payrun = await server.start();
      const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
      const copy = await backUp(payrun);
      await approve(payrun, runId);
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
      await replaceStore(payrun, copy);
      const hold = await holdOnAll(payrun);
      const env = {
        PAYRUN_GATEWAY_URL: payrun.gatewayUrl,
        PAYRUN_TOKEN: payrun.tokens.get("operator") ?? "",
      };
      const typed = async (command: string | undefined, ...more: readonly string[]) => {
        const { code, stdout, stderr } = await cli([...wordsOf(command ?? ""), ...more], { env });
        expect(code, `${command}: ${stderr}`).toBe(0);
        return stdout;
      };
      const [holds, payments, explain, letGo, ...others] = commandsOfDrill(
        "The database is lost at three in the morning",
      );
      expect(others).toEqual([]);
      expect(await typed(holds)).toMatch(new RegExp(`^everything .*${hold.id}$`, "m"));
      const listed = await typed(payments?.replace("BACKUP_DAY", "2000-01-01"));
      expect(listed).toContain("not on record: 2, $30.00");
      const explained = await typed(explain?.replace("BILL", made[0]?.id ?? ""));
      expect(explained).toContain("by a payment that this store has no record of");
      expect(await compared(payrun)).toEqual(
        made.map(() => ({ onRecord: false, mayBeOurs: true })),
      );
      await approve(payrun, runId);
      await payrun.until(runId, "on hold", ({ counts }) => counts["on-hold"] === 2);
      const released = await typed(letGo?.replace("HOLD_ID", hold.id), "--yes");
      // Until the service's events have arrived again, nothing shows that they are paid.
      expect(released).toMatch(/2 bills, \$30\.00, go out after|Nothing is owed any more/);
      // Nothing is sent before forgotten payments must show.
      await payrun.sandbox.control.advanceWire("PT9M");
      const found = await payrun.until(runId, "found", ({ counts }) => counts.scheduled === 2);
      expect(found.payments.map(({ paymentIds }) => paymentIds.length)).toEqual([1, 1]);
      expect(await paymentRequests(payrun)).toBe(2);
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 2 });
      expect(await compared(payrun)).toEqual(
        made.map(() => ({ onRecord: true, mayBeOurs: false })),
      );
      await expectAllDone(payrun, made);
    },
  );

  test.runIf(isLong)(
    "a restored store also finds payments of ended runs and of runs launched after the backup",
    async () => {
      const payrun = await server.start();
      const { runId, made } = await plannedRun(payrun, [10_00]);
      const copy = await backUp(payrun);
      await approve(payrun, runId);
      // Sent on the planned day, since a payment on another day counts as an external payment.
      await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 1);
      await untilEnded(payrun, runId);
      await payrun.sandbox.control.setScale(1);
      const later = await bills(payrun.sandbox, [40_00]);
      await payrun.apply("later", PAY_ALL);
      const second = await payrun.launch("later");
      await payrun.untilPhase(second, "awaiting-approval");
      await approve(payrun, second);
      await payrun.until(second, "sent", ({ counts }) => counts.scheduled === 1);
      await replaceStore(payrun, copy);
      const hold = await holdOnAll(payrun);
      await approve(payrun, runId);
      await release(payrun, hold);
      // Nothing is sent before forgotten payments must show.
      await payrun.sandbox.control.advanceWire("PT9M");
      const done = await untilEnded(payrun, runId);
      expect(done.counts).toEqual({ settled: 1 });
      expect(await paymentRequests(payrun)).toBe(2);
      await payrun.sandbox.control.advance("P14D");
      await expectAllDone(payrun, [...made, ...later]);
    },
  );
});

describe.runIf(isLong)("losing the store and Temporal's data together", () => {
  test("a restored store without Temporal's data holds everything until a person releases it", async () => {
    const payrun = await server.start();
    const { runId, made } = await plannedRun(payrun, [10_00]);
    await expect.poll(() => lastKept(payrun.store.db)).not.toBeNull();
    const copy = await backUp(payrun);
    // As if the backup had been made an hour ago.
    const database = new DatabaseSync(copy);
    database.exec(
      "update leases set until_ms = until_ms - 3600000 where name = 'store-kept'; update runs set launched_at_ms = launched_at_ms - 7200000",
    );
    database.close();
    await payrun.call("launcher", "POST", `/v1/runs/${encodeURIComponent(runId)}/cancel`);
    await payrun.killWorkers();
    await server.lose();
    await replaceStore(payrun, copy);
    const hold = await holdOnAll(payrun);
    expect(hold.reason).toContain(`Temporal has lost ${runId}`);
    await approve(payrun, runId);
    await payrun.until(runId, "on hold", ({ counts }) => counts["on-hold"] === 1);
    expect(await paymentRequests(payrun)).toBe(0);
    await release(payrun, hold);
    await payrun.sandbox.control.advanceWire("PT9M");
    expect((await untilEnded(payrun, runId)).counts).toEqual({ settled: 1 });
    await expectAllDone(payrun, made);
  });
});

describe.runIf(isLong)("an empty store", () => {
  test("an empty store beside a Temporal with runs holds everything, and then pays nothing twice", async () => {
    const payrun = await server.start();
    const { runId, made } = await plannedRun(payrun, [10_00, 20_00]);
    await approve(payrun, runId);
    await payrun.until(runId, "sent", ({ counts }) => counts.scheduled === 2);
    await replaceStore(payrun);
    await release(payrun, await holdOnAll(payrun));
    // With a slow clock, today's deadline does not pass before the approval.
    await payrun.sandbox.control.setScale(1);
    const more = await bills(payrun.sandbox, [30_00]);
    await payrun.apply("weekly", PAY_ALL);
    expect(await payrun.launch("weekly")).toBe(runId);
    const planned = await payrun.untilPhase(runId, "awaiting-approval");
    expect(planned.payments.map(({ payableId }) => payableId)).toEqual(more.map(({ id }) => id));
    await approve(payrun, runId);
    // Nothing is sent before forgotten payments must show.
    await payrun.sandbox.control.advanceWire("PT9M");
    const done = await untilEnded(payrun, runId);
    expect(done.counts.settled).toBe(1);
    await payrun.sandbox.control.advance("P14D");
    await expectAllDone(payrun, [...made, ...more]);
  });
});
