import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Ledger } from "../../../src/sandbox/bank/ledger.ts";
import type { BankMove, BankOrder, MoveKind } from "../../../src/sandbox/bank/moves.ts";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { makeBill, pay } from "../world.ts";

function move(paymentId: string, kind: MoveKind, toBalanceCents: number): BankMove {
  return {
    id: `${paymentId}:${kind}`,
    at: "2026-11-23T14:00:00.000Z",
    kind,
    paymentId,
    transactionId: null,
    payableId: "pbl_1",
    businessId: "biz_1",
    amountCents: 500,
    toBalanceCents,
  };
}

function statement(balanceCents: number, id = `statement ${balanceCents}`): BankOrder {
  return { id, kind: "statement", businessId: "biz_1", balanceCents };
}

describe("the balances at the bank", () => {
  const it = test.extend("ledger", ({ onTestFinished }) => {
    const directory = mkdtempSync(join(tmpdir(), "balances-"));
    const ledger = new Ledger(join(directory, "bank.db"));
    onTestFinished(() => {
      ledger.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return ledger;
  });

  it("a balance at the bank follows the moves and never goes below zero", ({ ledger }) => {
    expect(ledger.apply([statement(999), move("p1", "debit", -500)])).toEqual([]);
    expect(ledger.books().balances).toEqual({ biz_1: 499 });
    expect(ledger.apply([move("p2", "debit", -500)])).toEqual([
      { moveId: "p2:debit", reason: "the balance of 499 cents would become negative" },
    ]);
    expect(ledger.apply([move("p1", "refund", 500)])).toEqual([]);
    expect(ledger.books().balances).toEqual({ biz_1: 999 });
    expect(ledger.entries(0, 10).entries.map(({ kind }) => kind)).toEqual(["debit", "refund"]);
  });

  it("a move changes the balance by exactly its amount, and only once however often it is sent", ({
    ledger,
  }) => {
    ledger.apply([statement(5_000)]);
    expect(ledger.apply([move("p1", "debit", -499)])).toMatchObject([{ moveId: "p1:debit" }]);
    ledger.apply([move("p2", "debit", -500), move("p2", "debit", -500), statement(5_000)]);
    expect(ledger.books().balances).toEqual({ biz_1: 4_500 });
  });

  it("a statement sets the balance at the bank, but not below zero", ({ ledger }) => {
    ledger.apply([statement(10), statement(20)]);
    expect(ledger.apply([statement(-1)])).toMatchObject([{ moveId: "statement -1" }]);
    expect(ledger.books().balances).toEqual({ biz_1: 20 });
    expect(ledger.entries(0, 10).entries).toEqual([]);
  });
});

const tampered = sandboxTest("blank").extend("sandbox", async ({ sandbox }) => {
  await pay(sandbox, { payableId: await makeBill(sandbox) });
  await sandbox.control.advance("P7D");
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
  return sandbox;
});

describe("a sandbox whose books were tampered with", () => {
  async function tamper(sandbox: TestSandbox, file: string, sql: string): Promise<void> {
    await sandbox.kill("SIGTERM");
    const db = new DatabaseSync(join(sandbox.dataDir, file));
    db.exec(sql);
    db.close();
    await sandbox.restart();
  }

  tampered(
    "the ledger can't be written over HTTP, and health reports an entry added by hand",
    async ({ sandbox }) => {
      const before = await sandbox.control.ledger();
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const answer = await fetch(`${sandbox.url}/sandbox/ledger`, { method, body: "{}" });
        expect(answer.status).toBe(404);
      }
      expect(await sandbox.control.ledger()).toEqual(before);
      const [file = ""] = readdirSync(sandbox.dataDir).filter((name) => /^bank-.*\.db$/.test(name));
      await tamper(
        sandbox,
        file,
        `INSERT INTO ledger (move_id, at, kind, payment_id, business_id, amount_cents)
       VALUES ('x', '2026-11-23T14:00:00.000Z', 'debit', 'pay_x', 'biz_x', 7)`,
      );
      expect(await sandbox.control.health()).toMatchObject({
        ok: false,
        bank: { mismatch: expect.stringContaining("bank 2 moves, 100007 cents") },
      });
    },
  );

  tampered(
    "health reports a balance of the service that is one cent too high",
    async ({ sandbox }) => {
      await tamper(sandbox, "sandbox.sqlite", "UPDATE businesses SET cash_cents = cash_cents + 1");
      expect(await sandbox.control.health()).toMatchObject({
        ok: false,
        bank: { mismatch: expect.stringContaining("service 99900001 cents; bank 99900000 cents") },
      });
    },
  );
});
