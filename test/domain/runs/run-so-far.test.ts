import { describe, expect, test } from "vitest";
import type { LineState } from "../../../src/contracts/line-states.ts";
import { nameOfBill, timerText, publicText } from "../../../src/domain/history-texts.ts";
import { runSoFar } from "../../../src/domain/runs/run-so-far.ts";

function said(
  counts: Partial<Record<LineState, number>>,
  more: Partial<Parameters<typeof runSoFar>[0]> = {},
): string {
  const lines = Object.entries(counts) as [LineState, number][];
  return runSoFar({
    run: { approveByMs: Date.parse("2026-11-30T04:59:00Z") },
    counts: new Map(lines.map(([state, count]) => [state, { count }])),
    expiredLines: 0,
    cameBack: new Map(),
    ...more,
  });
}

describe("a run's progress", () => {
  test("a run's progress counts approvals and says by when the other bills can be approved", () => {
    expect(said({ "awaiting-approval": 54, planned: 3, skipped: 9 })).toBe(
      "3 of 57 approved, the rest until Sun, Nov 29, 11:59 PM",
    );
  });

  test("a run's progress counts settled and returned bills, and none as paid that is only scheduled or on the way", () => {
    const made = { scheduled: 24, held: 1, processing: 2 };
    const counts = { "awaiting-approval": 17, ...made, settled: 12, retrying: 1 };
    expect(said(counts, { cameBack: new Map([["R02", 1]]) })).toBe(
      "40 of 57 approved, the rest until Sun, Nov 29, 11:59 PM; 12 settled, 1 returned R02",
    );
  });

  test("a run's progress shows bills that wait for a person, and is empty at first", () => {
    expect(said({ settled: 2, parked: 1 })).toBe("2 settled, 1 for a person");
    expect(said({ settled: 2, parked: 2 }, { givenBackLines: 1 })).toContain(", 1 for a person");
    expect(said({ settled: 2, parked: 2 }, { givenBackLines: 2 })).not.toContain("person");
    expect(said({ planned: 3 })).toBe("");
  });
});

describe("a timer in a history", () => {
  test("a timer's summary says the progress and what the run waits for, without digits of an account", () => {
    const now = { soFar: "1 settled", waitingFor: "1 bill scheduled to ••1234" };
    expect(timerText(now)).toBe("1 settled; 1 bill scheduled to ••");
    expect(timerText({ waitingFor: null, soFar: "2 settled" })).toBe("2 settled");
    expect(timerText({ waitingFor: null })).toBe("Nothing to do until then");
    expect(timerText({ waitingFor: "x".repeat(500) })).toHaveLength(190);
  });

  test("a timer's summary names a bill by its number and vendor, if they are known", () => {
    const payableId = "bill_1";
    expect(nameOfBill({ payableId, publicId: "BILL-71", contactName: "Acme" })).toBe(
      "BILL-71 of Acme",
    );
    expect(nameOfBill({ payableId, publicId: null, contactName: null })).toBe("bill_1");
    expect(publicText("from ••6789 to ••none")).toBe("from •• to ••");
  });
});
