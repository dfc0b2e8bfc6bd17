import { expect, test } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";

const HEAD = "kind: cancel-scheduled\n";
const RUN = "choose: { run: weekly-vendors }\n";
const CANCEL = "how: cancel-already-scheduled\n";

function load(text: string) {
  return loadPlaybook(HEAD + text, { file: "mine.yaml" });
}

test("the defaults withhold, until the business day before, for the controller or the owner", () => {
  const loaded = load(RUN);
  expect(loaded.ok && loaded.playbook).toMatchObject({
    how: "not-submitted-until-released",
    releasedBy: ["controller", "owner"],
    until: { time: "17:00", businessDaysBefore: 1 },
    refundBusinessDays: 3,
  });
});

test("bills of one vendor, or by a condition, are withheld from every run", () => {
  for (const choose of ["vendor: con_1", "where: review"]) {
    const loaded = load(`choose: { ${choose} }\n`);
    expect(loaded.ok && loaded.playbook).toMatchObject({ choose: { run: null } });
  }
});

test.each([
  ["choose: {}\n", /`choose` names nothing/],
  [`choose: { run: weekly-vendors, where: 'payable.amount > 5' }\n`, /no field `amount`/],
  [`choose: { run: weekly-vendors, where: payable.amountCents }\n`, /not yes or no/],
  ["choose: { run: weekly-vendors, where: [review] }\n", /is not a condition/],
  ["choose: { payments: [pay_1] }\n", /can't be withheld/],
  [`${CANCEL}choose: { payments: [] }\n`, /names no payment/],
  [`${CANCEL}choose: { payments: [pay_1], run: weekly-vendors }\n`, /named one by one/],
  [`${CANCEL}choose: { payments: [pay_1], where: review }\n`, /named one by one/],
  [`${CANCEL}${RUN}unless: { releasedBy: [owner] }\n`, /only what is withheld/],
  [`${RUN}unless: { releasedBy: [] }\n`, /nobody could release/],
  [
    `${RUN}unless: { until: "08:00 on the day" }\n`,
    /too late: payments are sent by the day before/,
  ],
  [`${RUN}unless: { until: "17:00 day before" }\n`, /does not say until when/],
  [`${RUN}unless: { until: "25:00 business day before" }\n`, /does not say until when/],
  [`${RUN}unless: { until: "12:00 11 business days before" }\n`, /out of range/],
  [`${RUN}then: { refundIn: 3 days }\n`, /not in business days/],
  [`${RUN}then: { hold: never }\n`, /hold/],
  [`${RUN}how: cancel what is already scheduled\n`, /can't be/],
])("%s is a mistake that says why", (text, why) => {
  const loaded = load(text);
  expect(loaded.ok ? [] : loaded.problems.map(({ message }) => message)).toEqual([
    expect.stringMatching(why),
  ]);
});
