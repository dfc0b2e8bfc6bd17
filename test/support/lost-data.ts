import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { rowMayStillPay } from "../../src/store/payables/open-subjects.ts";
import { type DevServer, startDevServer } from "../gateway/support/dev-server.ts";
import type { Bill } from "./bills.ts";
import { paidOnce, type TestPayrun } from "./payrun.ts";
import { each, stacks } from "./stack.ts";

/** Real time between the janitor's passes in these tests. */
const PASS_EVERY_MS = 400;

export interface LosableTemporal {
  /** Starts a stack on a server that has no data yet. */
  readonly start: () => Promise<TestPayrun>;
  /** Loses everything that the server knew, as deleting its file does. */
  readonly lose: () => Promise<void>;
}

/** Returns a Temporal server of the test file's own, whose data can be lost. */
export function losableTemporal(): LosableTemporal {
  const startStack = stacks();
  let folder: string;
  let server: DevServer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "payrun-lost-"));
    server = await startDevServer(folder);
  });
  afterAll(async () => {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const lose = async (): Promise<void> => {
    await server.kill();
    for (const end of ["", "-wal", "-shm"]) {
      await rm(join(folder, `temporal.db${end}`), { force: true });
    }
    await server.start(true);
  };
  const start = async (): Promise<TestPayrun> => {
    await lose();
    return startStack({ janitorEveryMs: PASS_EVERY_MS, temporalAddress: server.address });
  };
  return { start, lose };
}

/**
 * Expects that each bill is paid exactly once, and that no bill is claimed that nothing may still
 * pay.
 */
export async function expectAllDone(payrun: TestPayrun, made: readonly Bill[]): Promise<void> {
  const { actual, expected } = await paidOnce(payrun, each(made));
  expect(actual).toEqual(expected);
  // A bill whose request had no answer stays claimed until a lookup minutes later is conclusive.
  const idleClaims = () =>
    payrun.store.db
      .selectFrom("claims")
      .selectAll()
      .where((eb) => eb.not(rowMayStillPay("claims")))
      .execute();
  await expect.poll(idleClaims).toEqual([]);
}
