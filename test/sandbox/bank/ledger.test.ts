import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Ledger } from "../../../src/sandbox/bank/ledger.ts";
import type { BankMove, MoveKind } from "../../../src/sandbox/bank/moves.ts";

function move(kind: MoveKind, changes: Partial<BankMove> = {}): BankMove {
  const paymentId = changes.paymentId === undefined ? "pay_1" : changes.paymentId;
  return {
    id: `${paymentId}:${kind}`,
    at: "2026-11-23T14:00:00.000Z",
    kind,
    paymentId,
    transactionId: null,
    payableId: "pbl_1",
    businessId: "biz_1",
    amountCents: 12_345,
    ...changes,
  };
}

describe("the bank's ledger", () => {
  let directory: string;
  let file: string;
  let ledger: Ledger;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "ledger-"));
    file = join(directory, "bank.db");
    ledger = new Ledger(file);
  });

  afterEach(() => {
    ledger.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const booked = () => ledger.entries(0, 100).entries;

  it("the ledger books each move once, however often and in whatever batch it arrives", () => {
    ledger.apply([move("debit")]);
    ledger.apply([move("debit"), move("credit"), move("credit")]);
    expect(booked().map(({ id, kind }) => [id, kind])).toEqual([
      ["entry_00000001", "debit"],
      ["entry_00000002", "credit"],
    ]);
  });

  it.each([
    ["a settled payment", ["debit", "credit"]],
    ["R01: the debit comes back", ["debit", "return"]],
    [
      "R02: the credit comes back and the payer is refunded",
      ["debit", "credit", "return", "refund"],
    ],
    ["a held payment that is cancelled", ["debit", "refund"]],
  ] as const)("the ledger books %s", (_name, kinds) => {
    expect(ledger.apply(kinds.map((kind) => move(kind)))).toEqual([]);
    expect(booked()).toHaveLength(kinds.length);
  });

  it.each([
    ["a second debit of a payment", [move("debit"), move("debit", { id: "again" })]],
    ["a credit before a debit", [move("credit")]],
    ["a return of nothing", [move("return")]],
    ["a refund of nothing", [move("refund")]],
    ["a credit of another amount", [move("debit"), move("credit", { amountCents: 1 })]],
    ["a credit after the debit came back", [move("debit"), move("return"), move("credit")]],
    ["a refund of a returned debit", [move("debit"), move("return"), move("refund")]],
    ["a refund while the payee keeps it", [move("debit"), move("credit"), move("refund")]],
    ["another business's payment", [move("debit"), move("credit", { businessId: "biz_2" })]],
    ["an amount of nothing", [move("debit", { amountCents: 0 })]],
    ["a negative amount", [move("debit", { amountCents: -5 })]],
    ["half a cent", [move("debit", { amountCents: 10.5 })]],
    ["a move for nothing", [move("debit", { paymentId: null })]],
    ["an instant that is none", [move("debit", { at: "soon" })]],
    ["another move under a used id", [move("debit"), move("debit", { amountCents: 7 })]],
  ])("the ledger refuses %s and books the moves before it", (_name, moves) => {
    const refusals = ledger.apply(moves);
    expect(refusals.map(({ moveId }) => moveId)).toEqual([moves.at(-1)?.id]);
    expect(booked()).toHaveLength(moves.length - 1);
  });

  it("a refused move stays refused, even once it would be possible", () => {
    expect(ledger.apply([move("credit")])).toHaveLength(1);
    expect(ledger.apply([move("debit"), move("credit")])).toHaveLength(1);
  });

  it("the ledger matches a transaction's moves by their transaction id", () => {
    const deposit = { paymentId: null, payableId: null, transactionId: "txn_1" };
    const refusals = ledger.apply([
      move("debit", { ...deposit, id: "a" }),
      move("credit", { ...deposit, id: "b" }),
      move("return", { ...deposit, id: "c", transactionId: "txn_2" }),
    ]);
    expect(refusals.map(({ moveId }) => moveId)).toEqual(["c"]);
  });

  it("transactions follow the order of moves that payments do, but a credit may stand alone", () => {
    const of = (transactionId: string) => ({ paymentId: null, payableId: null, transactionId });
    const one = (kind: MoveKind, id: string, changes: Partial<BankMove> = {}) =>
      move(kind, { ...of(id), id: `${id}:${kind}`, ...changes });
    const refused = ledger.apply([
      one("credit", "micro"),
      one("return", "micro", { id: "too little", amountCents: 1 }),
      one("return", "micro"),
      one("debit", "deposit"),
      one("debit", "deposit", { id: "again" }),
      one("credit", "deposit", { id: "too much", amountCents: 99_999 }),
      one("credit", "deposit"),
      one("refund", "deposit", { id: "too early" }),
      one("return", "deposit"),
      one("refund", "deposit"),
    ]);
    expect(refused.map(({ moveId }) => moveId)).toEqual([
      "too little",
      "again",
      "too much",
      "too early",
    ]);
  });

  it("the ledger can't be rewritten, not even by SQL", () => {
    ledger.apply([move("debit")]);
    const db = new DatabaseSync(file);
    expect(() => db.exec("UPDATE ledger SET amount_cents = 1")).toThrow(/append-only/);
    expect(() => db.exec("DELETE FROM ledger")).toThrow(/append-only/);
    expect(() => db.exec("INSERT OR REPLACE INTO ledger SELECT * FROM ledger")).toThrow(
      /append-only/,
    );
    db.close();
    expect(booked()).toHaveLength(1);
  });

  it("the ledger keeps its entries, their ids and their order when it is reopened", () => {
    ledger.apply([move("debit"), move("credit")]);
    const before = booked();
    ledger.close();
    ledger = new Ledger(file);
    expect(booked()).toEqual(before);
  });
});
