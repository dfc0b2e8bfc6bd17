import { describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/playbooks/load.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";

const RUN = "choose: { run: weekly-vendors }\n";

function load(kind: "hold" | "cancel-scheduled", text: string): LoadResult {
  return loadPlaybook(`kind: ${kind}\n${text}`, { file: "mine.yaml" });
}

function mistakesOf(loaded: LoadResult): string[] {
  return loaded.ok ? [] : loaded.problems.map(({ message }) => message);
}

describe("kind: hold", () => {
  test("a hold holds bills back until the business day before, for the controller or the owner to release", () => {
    const loaded = load("hold", RUN);
    expect(loaded.ok && loaded.playbook).toEqual({
      kind: "hold",
      name: "mine",
      business: null,
      schedule: null,
      choose: { run: "weekly-vendors", where: null, vendor: null },
      releasedBy: ["controller", "owner"],
      until: { time: "17:00", businessDaysBefore: 1 },
    });
  });

  test("a hold holds back bills of one vendor, or by a condition, from every run", () => {
    for (const choose of ["vendor: con_1", "where: review"]) {
      const loaded = load("hold", `choose: { ${choose} }\n`);
      expect(loaded.ok && loaded.playbook).toMatchObject({ choose: { run: null } });
    }
  });

  test.each([
    ["choose: {}\n", /`choose` names nothing/],
    [`choose: { run: weekly-vendors, where: 'payable.amount > 5' }\n`, /no field `amount`/],
    [`choose: { run: weekly-vendors, where: payable.amountCents }\n`, /not yes or no/],
    ["choose: { run: weekly-vendors, where: [review] }\n", /is not a condition/],
    ["choose: { payments: [pay_1] }\n", /unknown key `payments` under `choose`/],
    [`${RUN}unless: { releasedBy: [] }\n`, /nobody could release/],
    [
      `${RUN}unless: { until: "08:00 on the day" }\n`,
      /too late: payments are sent by the day before/,
    ],
    [`${RUN}unless: { until: "17:00 day before" }\n`, /does not say until when/],
    [`${RUN}unless: { until: "25:00 business day before" }\n`, /does not say until when/],
    [`${RUN}unless: { until: "12:00 11 business days before" }\n`, /out of range/],
  ])("a hold with %j is refused with the reason", (text, why) => {
    const mistakes = mistakesOf(load("hold", text));
    expect(mistakes[0]).toMatch(why);
  });
});

describe("kind: cancel-scheduled", () => {
  test("a cancel-scheduled playbook cancels, and notifies of a refund after three business days", () => {
    const loaded = load("cancel-scheduled", "choose: { payments: [pay_1], vendor: con_1 }\n");
    expect(loaded.ok && loaded.playbook).toEqual({
      kind: "cancel-scheduled",
      name: "mine",
      business: null,
      schedule: null,
      choose: { run: null, where: null, vendor: "con_1", payments: ["pay_1"] },
      refundBusinessDays: 3,
    });
  });

  test.each([
    ["choose: {}\n", /`choose` names nothing/],
    ["choose: { payments: [] }\n", /names no payment/],
    ["choose: { payments: [pay_1], run: weekly-vendors }\n", /named one by one/],
    ["choose: { payments: [pay_1], where: review }\n", /named one by one/],
    [`${RUN}then: { refundIn: 3 days }\n`, /not in business days/],
  ])("a cancel-scheduled playbook with %j is refused with the reason", (text, why) => {
    expect(mistakesOf(load("cancel-scheduled", text))).toEqual([expect.stringMatching(why)]);
  });
});

test.each([
  [`kind: cancel-scheduled\n${RUN}how: cancel-already-scheduled\n`, "how", /`kind: hold`/],
  [`kind: cancel-scheduled\n${RUN}unless: { releasedBy: [owner] }\n`, "unless", /`kind: hold`/],
  [`kind: cancel-scheduled\n${RUN}then: { hold: until-released }\n`, "then.hold", /always on hold/],
  [`kind: cancel-scheduled\n${RUN}then: { tooLate: tell }\n`, "then.tooLate", /always notified/],
  [`kind: hold\n${RUN}how: not-submitted-until-released\n`, "how", /holds bills back/],
  ["kind: pay-run\npay: { arrive: by-due-date }\n", "pay.arrive", /`on: arrives-by-due-date`/],
  ["kind: retry-failed\npayments: all\n", "payments", /`events: \[payable.payment.failed/],
])("%j, from an earlier version, is refused with what to write now", (text, key, hint) => {
  const loaded = loadPlaybook(text, { file: "mine.yaml" });
  expect(loaded.ok ? [] : loaded.problems).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(`^\`${key}\` is no longer a key of`),
      expected: expect.stringMatching(hint),
    }),
  ]);
});
