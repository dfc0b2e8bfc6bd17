import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BankLink } from "../../../src/sandbox/bank/link.ts";
import type { BankMove, MoveKind } from "../../../src/sandbox/bank/moves.ts";
import { bankDdl, enqueueBankMove } from "../../../src/sandbox/bank/outbox.ts";
import { emptyTables, openDatabase, transaction } from "../../../src/sandbox/db.ts";
import { eventually } from "../../support/waits.ts";

function move(paymentId: string, kind: MoveKind, amountCents = 500): BankMove {
  return {
    id: `${paymentId}:${kind}`,
    at: "2026-11-23T14:00:00.000Z",
    kind,
    paymentId,
    transactionId: null,
    payableId: "pbl_1",
    businessId: "biz_1",
    amountCents,
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the line to the bank's process", () => {
  let dataDir: string;
  let db: DatabaseSync;
  let bank: BankLink;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "bank-"));
    db = openDatabase(join(dataDir, "service.db"), [bankDdl]);
    bank = new BankLink({ db, dataDir });
    await bank.start();
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await bank.stop();
    db.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const order = (...moves: BankMove[]) =>
    transaction(db, () => moves.forEach((one) => enqueueBankMove(db, one)));
  const kinds = async () => (await bank.ledger()).map(({ paymentId, kind }) => [paymentId, kind]);

  it("the bank books the ordered moves in their order, in another process", async () => {
    order(move("p1", "debit"), move("p2", "debit"));
    order(move("p2", "credit"), move("p1", "return"));
    expect(await kinds()).toEqual([
      ["p1", "debit"],
      ["p2", "debit"],
      ["p2", "credit"],
      ["p1", "return"],
    ]);
    const { pid, ok } = bank.health();
    expect(ok).toBe(true);
    expect(pid).not.toBe(process.pid);
  });

  it("committed moves are delivered without a flush, and rolled-back moves never", async () => {
    expect(() =>
      transaction(db, () => {
        enqueueBankMove(db, move("p1", "debit"));
        throw new Error("changed my mind");
      }),
    ).toThrow("changed my mind");
    order(move("p2", "debit"));
    await eventually("the outbox is empty", () => bank.health().queued === 0);
    expect(await kinds()).toEqual([["p2", "debit"]]);
  });

  it("the bank returns a ledger of thousands of moves completely", async () => {
    const ids = Array.from({ length: 6_000 }, (_, i) => `p${i}`);
    order(...ids.map((id) => move(id, "debit")));
    expect((await bank.ledger()).map(({ paymentId }) => paymentId)).toEqual(ids);
  });

  it("a killed bank is started again, and no move is lost or doubled", async () => {
    const ids = Array.from({ length: 300 }, (_, i) => `p${i}`);
    for (const [index, id] of ids.entries()) {
      order(move(id, "debit"));
      if (index === 100 || index === 200) {
        const { pid, restarts } = bank.health();
        process.kill(pid ?? 0, "SIGKILL");
        order(move(`${id}b`, "debit"));
        await eventually("the bank is back", () => {
          const now = bank.health();
          return now.restarts === restarts + 1 && now.pid !== null;
        });
      }
    }
    ids.splice(201, 0, "p200b");
    ids.splice(101, 0, "p100b");
    expect((await bank.ledger()).map(({ paymentId }) => paymentId)).toEqual(ids);
    expect(bank.health()).toMatchObject({ ok: true, restarts: 2 });
  });

  it("a new link delivers the moves that an earlier process left in the outbox", async () => {
    await bank.stop();
    order(move("p1", "debit"));
    bank = new BankLink({ db, dataDir });
    await bank.start();
    expect(bank.health().queued).toBe(0);
    expect(await kinds()).toEqual([["p1", "debit"]]);
  });

  it("a move that the bank refuses is reported on stderr and in health", async () => {
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    order(move("p1", "credit"));
    await bank.flush();
    expect(stderr.mock.calls.flat().join("")).toContain("refused the move p1:credit");
    expect(bank.health()).toMatchObject({ ok: false, refusals: [{ moveId: "p1:credit" }] });
  });

  it("a difference between the bank's books and the service's is reported on stderr and in health", async () => {
    order(move("p1", "debit"));
    await bank.flush();
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    db.exec("UPDATE bank_outbox SET amount_cents = 501");
    await bank.flush();
    expect(stderr.mock.calls.flat().join("")).toContain("the books differ");
    const health = bank.health();
    expect(health.ok).toBe(false);
    expect(health.mismatch).toContain("service 1 moves, 501 cents; bank 1 moves, 500 cents");
  });

  it("the bank begins an empty ledger once the service's tables have been emptied", async () => {
    order(move("p1", "debit"));
    await bank.flush();
    transaction(db, () => {
      emptyTables(db, []);
      enqueueBankMove(db, move("p1", "debit", 900));
    });
    expect((await bank.ledger()).map(({ amountCents }) => amountCents)).toEqual([900]);
    const files = readdirSync(dataDir).filter((name) => /^bank-.*\.db$/.test(name));
    expect(files).toHaveLength(1);
    expect(bank.health().ok).toBe(true);
  });

  it("stopping the link ends the bank's process", async () => {
    const pid = bank.health().pid ?? 0;
    await bank.stop();
    await eventually("the process is gone", () => !isAlive(pid));
    expect(bank.health().pid).toBeNull();
  });
});
