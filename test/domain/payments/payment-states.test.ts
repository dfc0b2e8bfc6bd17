import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import {
  isKnownUnpaid,
  isOnItsWay,
  judgeTransition,
  lineStateOfPayments,
} from "../../../src/domain/payments/payment-states.ts";

function pays(...statuses: string[]) {
  return statuses.map((status, index) => ({ id: `pay_${index}`, status, amountCents: 100 }));
}

describe("a payment's status", () => {
  it("a payment counts as on its way unless it has certainly ended, even with an unknown status", () => {
    for (const status of ["pending", "scheduled", "processing", "held", "refund_pending", "new"]) {
      expect(isOnItsWay(status)).toBe(true);
      expect(isKnownUnpaid(status)).toBe(false);
    }
    for (const status of ["failed", "returned", "cancelled", "refunded"]) {
      expect(isOnItsWay(status)).toBe(false);
      expect(isKnownUnpaid(status)).toBe(true);
    }
    expect(isOnItsWay("completed")).toBe(false);
    expect(isKnownUnpaid("completed")).toBe(false);
  });
});

describe("the state of a line by its payments", () => {
  it.each([
    [["completed"], "settled"],
    [["completed", "completed"], "settled"],
    [["completed", "scheduled"], "scheduled"],
    [["scheduled", "processing"], "processing"],
    [["pending"], "processing"],
    [["a_status_of_tomorrow"], "processing"],
    [["held", "completed"], "held"],
    [["refund_pending"], "held"],
    [["refunded"], "refunded"],
    [["cancelled", "refunded"], "refunded"],
    [["cancelled"], "cancelled"],
  ])("a line with the payments %j is %s", (statuses, state) => {
    const outcome = lineStateOfPayments(pays(...statuses), statuses.length * 100);
    expect(outcome).toMatchObject({ kind: "state", state });
  });

  it("a line has failed if one part of a split failed, and shows whether others are still on their way", () => {
    const failed = { id: "f", status: "failed", amountCents: 100, failureReason: "R01" };
    expect(lineStateOfPayments([failed, ...pays("processing")], 200)).toEqual({
      kind: "failed",
      reasons: [{ paymentId: "f", status: "failed", amountCents: 100, failureReason: "R01" }],
      others: "processing",
    });
    expect(lineStateOfPayments([failed, ...pays("completed")], 200)).toMatchObject({
      others: null,
    });
    expect(lineStateOfPayments(pays("returned"), 100)).toMatchObject({
      kind: "failed",
      reasons: [{ status: "returned", failureReason: null }],
    });
  });

  it("a line is not settled while a part of its amount is missing", () => {
    expect(lineStateOfPayments(pays("completed"), 300)).toMatchObject({
      kind: "partial",
      settledCents: 100,
      missingCents: 200,
    });
    expect(lineStateOfPayments(pays("completed", "cancelled"), 200)).toMatchObject({
      kind: "partial",
    });
    expect(lineStateOfPayments([], 100)).toMatchObject({ kind: "partial", missingCents: 100 });
  });
});

describe("a newer reading of a payment", () => {
  const at = (status: string, seconds: number) => ({
    status,
    updatedAt: new Date(seconds * 1_000).toISOString(),
  });

  it("a newer reading replaces the older one, even if the status goes backwards", () => {
    expect(judgeTransition(undefined, at("failed", 1))).toEqual({ accept: true, alarm: null });
    expect(judgeTransition(at("completed", 1), at("returned", 2))).toEqual({
      accept: true,
      alarm: null,
    });
    expect(judgeTransition(at("scheduled", 1), at("failed", 1))).toEqual({
      accept: true,
      alarm: null,
    });
  });

  it("a reading without a date counts as not older", () => {
    const undated = { status: "failed", updatedAt: null };
    expect(judgeTransition(at("completed", 9), undated).accept).toBe(true);
    expect(judgeTransition(undated, at("completed", 1)).accept).toBe(true);
  });

  it("a reading that is older or says the same is ignored", () => {
    expect(judgeTransition(at("completed", 2), at("processing", 1)).accept).toBe(false);
    expect(judgeTransition(at("completed", 1), at("completed", 1)).accept).toBe(false);
  });

  it.each([
    ["cancelled", "completed"],
    ["refunded", "processing"],
    ["failed", "completed"],
    ["completed", "scheduled"],
  ])("a change from %s to %s is accepted with an alarm", (from, to) => {
    const verdict = judgeTransition(at(from, 1), at(to, 2));
    expect(verdict.accept).toBe(true);
    expect(verdict.alarm).toContain(`from ${from} to ${to}`);
  });

  const status = fc.constantFrom("pending", "scheduled", "completed", "returned", "cancelled", "x");
  test.prop([fc.array(fc.record({ status, at: fc.nat(5) }), { minLength: 1 }), fc.nat()])(
    "after readings in any order, a newest one is kept",
    (readings, seed) => {
      const shuffled = [...readings].sort(
        (a, b) => ((a.at * 7 + seed) % 5) - ((b.at * 7 + seed) % 5),
      );
      let known: { status: string; updatedAt: string } | undefined;
      for (const reading of shuffled) {
        const next = at(reading.status, reading.at);
        if (judgeTransition(known, next).accept) known = next;
      }
      const newest = Math.max(...readings.map((reading) => reading.at));
      const candidates = readings.filter((reading) => reading.at === newest);
      expect(candidates.map((reading) => reading.status)).toContain(known?.status);
    },
  );
});
