import { expect, test } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { evaluateCondition } from "../../src/playbooks/conditions.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { addDays } from "../../src/domain/clock/dates.ts";
import type { BillFacts } from "../../src/domain/planning/book.ts";
import { planDates } from "../../src/domain/planning/dates.ts";
import { sampleCompany } from "../../src/sandbox/fixtures/sample.ts";
import { bill, paid, selection, vendor } from "../domain/planning/fixtures.ts";
import { pageText } from "../support/docs.ts";

const DAYS = Array.from({ length: 366 }, (_, index) => addDays("2028-01-01", index));

test("on any day of the year the README's first playbook finds rent to pay that arrives within two weeks", () => {
  const [, text = ""] = /<<'YAML'\n([\s\S]*?)YAML\n/.exec(pageText("README.md")) ?? [];
  const loaded = loadPlaybook(text, { file: "rent.yaml" });
  if (!loaded.ok || loaded.playbook.kind !== "pay-run") throw new Error("README's playbook");
  const { playbook } = loaded;
  for (const [index, date] of DAYS.entries()) {
    // Early and late in New York's day.
    const nowMs = Date.parse(`${date}${index % 2 === 0 ? "T05:30:00Z" : "T23:30:00Z"}`);
    const period = newYorkDate(nowMs);
    const [business] = sampleCompany(nowMs).businesses;
    const payables = business?.payables ?? [];
    const bills = payables.map(
      ({ id = "", contactId, status, totalAmountCents: totalCents, dueDate, description }) =>
        bill(id, {
          ...{ status: status as BillFacts["status"], contactId: contactId ?? null, totalCents },
          ...{ dueDate: dueDate ?? null, description: description ?? null },
        }),
    );
    const payments = payables.flatMap(({ id = "", totalAmountCents, payments: made = [] }) =>
      made.map(({ status, amountCents = totalAmountCents }) => paid(id, { status, amountCents })),
    );
    const vendors = (business?.contacts ?? []).map(({ id = "" }) => vendor(id));
    const { selected } = selection(
      { bills, vendors, payments },
      { playbook, period, matches: evaluateCondition },
    );
    const arrivals = selected.map(
      (each) => planDates(each.bill.dueDate, period, playbook).arrivalDate,
    );
    expect(arrivals.length, period).toBeGreaterThan(0);
    for (const arrival of arrivals) expect(arrival <= addDays(period, 14), period).toBe(true);
  }
});
