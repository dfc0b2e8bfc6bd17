import { describe, expect, test } from "vitest";
import { judgeShortage, type ShortageInput } from "../../../src/domain/deposits/terms.ts";

const RULE = {
  from: "default",
  by: ["owner"],
  quorum: 1,
  atMostCents: 1_000_000,
  arrivalBusinessDays: null,
};

function judge(changes: Partial<ShortageInput>) {
  return judgeShortage({
    rule: RULE,
    needs: [{ date: "2026-11-16", cents: 100_00 }],
    leftCents: 0,
    sameDayCents: 0,
    today: "2026-11-02",
    ...changes,
  });
}

describe("the deposit that a shortage asks for", () => {
  test("a deposit is exactly the amount missing over all dates", () => {
    const needs = [
      { date: "2026-11-18", cents: 300_00 },
      { date: "2026-11-16", cents: 100_00 },
    ];
    expect(judge({ needs, leftCents: 150_00 })).toMatchObject({
      kind: "short",
      terms: { amountCents: 250_00, neededOn: "2026-11-18" },
    });
  });

  test("no deposit is proposed if everything is covered, to the cent", () => {
    expect(judge({ leftCents: 100_00 })).toEqual({ kind: "covered" });
    expect(judge({ leftCents: 99_99 })).toMatchObject({ terms: { amountCents: 1 } });
    expect(judge({ needs: [], leftCents: -5 })).toEqual({ kind: "covered" });
  });

  test("a deposit also covers reservations beyond the available money", () => {
    expect(judge({ leftCents: -50_00 })).toMatchObject({ terms: { amountCents: 150_00 } });
  });

  test("no deposit is proposed if more is missing than the playbook allows", () => {
    const rule = { ...RULE, atMostCents: 99_99 };
    expect(judge({ rule })).toEqual({ kind: "above-limit", shortCents: 100_00 });
    expect(judge({ rule: { ...rule, atMostCents: 100_00 } })).toMatchObject({ kind: "short" });
  });
});

describe("the day by which it is made", () => {
  test("a deposit is made so that it arrives on the banking day before the first bill that is not covered", () => {
    // Monday 16 November; Veterans Day is the 11th.
    expect(judge({})).toMatchObject({
      terms: { makeBy: "2026-11-09", arrivesOn: "2026-11-13", late: false },
    });
  });

  test("a bank holiday does not count towards a deposit's days", () => {
    const needs = [{ date: "2026-11-30", cents: 1 }];
    // Thanksgiving is the 26th.
    expect(judge({ needs })).toMatchObject({
      terms: { makeBy: "2026-11-23", arrivesOn: "2026-11-27" },
    });
  });

  test.each([
    ["one banking day by same-day ACH", { sameDayCents: 100_00 }, "2026-11-12"],
    ["three above the most that goes by it", { sameDayCents: 99_99 }, "2026-11-09"],
    [
      "what the playbook says",
      { sameDayCents: 100_00, rule: { ...RULE, arrivalBusinessDays: 2 } },
      "2026-11-10",
    ],
  ])("a deposit's arrival takes %s", (_, changes, makeBy) => {
    expect(judge(changes)).toMatchObject({ terms: { makeBy } });
  });

  test("a deposit whose day has passed is made today, and is shown as late", () => {
    expect(judge({ today: "2026-11-12" })).toMatchObject({
      terms: { makeBy: "2026-11-12", arrivesOn: "2026-11-17", late: true },
    });
  });
});
