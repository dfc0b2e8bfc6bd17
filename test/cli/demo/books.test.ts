import { describe, expect, test } from "vitest";

import type { LineState } from "../../../src/contracts/line-states.ts";
import type { RunStatus } from "../../../src/api/runs.ts";
import { booksAgree, booksLine, compareBooks } from "../../../src/cli/demo/books.ts";
import type { BankEntry } from "../../../src/cli/client/sandbox-control.ts";

function runOf(lines: readonly (readonly [string, number, LineState])[]): RunStatus {
  return {
    id: "pay-run/sandbox/weekly/2026-11-26",
    kind: "pay-run",
    business: "sandbox",
    playbook: "weekly",
    period: "2026-11-26",
    phase: "completed",
    waitingFor: null,
    counts: {},
    totalCents: 0,
    planHash: "hash",
    decideBy: null,
    zone: "America/New_York",
    now: null,
    launchedBy: "launcher",
    ...{ launchedAt: "2026-11-19T15:00:00.000Z", endedAt: null },
    ...{ needsAction: false, isFinal: false },
    payments: lines.map(([payableId, amountCents, state]) => ({
      payableId,
      amountCents,
      state,
      publicId: null,
      contactId: null,
      contactName: null,
      paymentIds: [],
      attempts: 1,
      reasonCode: null,
      reason: null,
      dueDate: null,
      executionDate: null,
      arrivalDate: null,
      flags: [],
      approvers: [],
      quorum: 1,
      approvedBy: [],
    })),
  };
}

function moves(
  paymentId: string,
  payableId: string,
  amountCents: number,
  kinds: readonly BankEntry["kind"][],
): BankEntry[] {
  return kinds.map((kind) => ({ at: "", kind, paymentId, payableId, amountCents }));
}

describe("the bank's ledger against Payrun's books", () => {
  test("the books agree over settled, split, retried and parked bills, and one line says so", () => {
    const run = runOf([
      ["a", 100_00, "settled"],
      ["split", 150_000_00, "settled"],
      ["r01", 20_00, "settled"],
      ["r02", 30_00, "parked"],
    ]);
    const ledger = [
      ...moves("p1", "a", 100_00, ["debit", "credit"]),
      ...moves("p2", "split", 100_000_00, ["debit", "credit"]),
      ...moves("p3", "split", 50_000_00, ["debit", "credit"]),
      ...moves("p4", "r01", 20_00, ["debit", "return"]),
      ...moves("p5", "r01", 20_00, ["debit", "credit"]),
      ...moves("p6", "r02", 30_00, ["debit", "credit", "return", "refund"]),
    ];
    const books = compareBooks(run, ledger, new Set());
    expect(booksAgree(books)).toBe(true);
    expect(booksLine(books)).toBe(
      "Bank ledger: 3 bills, $150,120.00 net. Payrun: 3 bills, $150,120.00. Difference $0.00. Paid twice: 0",
    );
  });

  test("payments from before the run are not compared", () => {
    const ledger = [
      ...moves("old", "a", 40_00, ["debit", "credit"]),
      ...moves("new", "a", 60_00, ["debit", "credit"]),
    ];
    const books = compareBooks(runOf([["a", 60_00, "settled"]]), ledger, new Set(["old"]));
    expect(booksAgree(books)).toBe(true);
  });

  test("a bill that was paid twice, or money unknown to Payrun, makes the books disagree", () => {
    const twice = compareBooks(
      runOf([["a", 60_00, "settled"]]),
      [
        ...moves("p1", "a", 60_00, ["debit", "credit"]),
        ...moves("p2", "a", 60_00, ["debit", "credit"]),
      ],
      new Set(),
    );
    expect(twice).toMatchObject({ paidTwice: 1, differenceCents: 60_00 });
    expect(booksAgree(twice)).toBe(false);
    const unknown = compareBooks(
      runOf([["a", 60_00, "parked"]]),
      moves("p1", "a", 60_00, ["debit", "credit"]),
      new Set(),
    );
    expect(booksAgree(unknown)).toBe(false);
  });
});
