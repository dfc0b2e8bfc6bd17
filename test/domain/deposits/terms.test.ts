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
  test("is exactly what is missing over all dates", () => {
    const needs = [
      { date: "2026-11-18", cents: 300_00 },
      { date: "2026-11-16", cents: 100_00 },
    ];
    expect(judge({ needs, leftCents: 150_00 })).toMatchObject({
      kind: "short",
      terms: { amountCents: 250_00, neededOn: "2026-11-18" },
    });
  });

  test("is none where everything is covered, to the cent", () => {
    expect(judge({ leftCents: 100_00 })).toEqual({ kind: "covered" });
    expect(judge({ leftCents: 99_99 })).toMatchObject({ terms: { amountCents: 1 } });
    expect(judge({ needs: [], leftCents: -5 })).toEqual({ kind: "covered" });
  });

  test("covers what others were promised beyond what there is", () => {
    expect(judge({ leftCents: -50_00 })).toMatchObject({ terms: { amountCents: 150_00 } });
  });

  test("is none where more is missing than the playbook allows", () => {
    const rule = { ...RULE, atMostCents: 99_99 };
    expect(judge({ rule })).toEqual({ kind: "above-limit", shortCents: 100_00 });
    expect(judge({ rule: { ...rule, atMostCents: 100_00 } })).toMatchObject({ kind: "short" });
  });
});

describe("the day by which it is made", () => {
  test("lets it arrive on the banking day before the first bill that is not covered", () => {
    // Monday 16 November; Veterans Day is the 11th.
    expect(judge({})).toMatchObject({
      terms: { makeBy: "2026-11-09", arrivesOn: "2026-11-13", late: false },
    });
  });

  test("counts a bank holiday as no day", () => {
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
  ])("takes %s", (_, changes, makeBy) => {
    expect(judge(changes)).toMatchObject({ terms: { makeBy } });
  });

  test("is today where that day has passed, and says so", () => {
    expect(judge({ today: "2026-11-12" })).toMatchObject({
      terms: { makeBy: "2026-11-12", arrivesOn: "2026-11-17", late: true },
    });
  });
});
