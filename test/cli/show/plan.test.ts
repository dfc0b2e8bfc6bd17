import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import type { RunStatus } from "../../../src/api/runs.ts";
import {
  leftText,
  nameOf,
  nextCommands,
  PlanDigest,
  skippedCounts,
} from "../../../src/cli/show/plan.ts";
import { shortLines } from "../../../src/cli/show/review.ts";
import { planLine, planSummary } from "../../store/fixtures.ts";

test("a plan's digest is the same page by page as at once, and names the largest odd bills", () => {
  const lines = Array.from({ length: 40 }, (_, index) =>
    planLine(`pay_${index}`, {
      amountCents: 1_00 * (index + 1),
      approvers: index % 4 === 0 ? ["owner"] : ["controller", "owner"],
      quorum: index % 8 === 0 ? 2 : 1,
      flags: index < 20 ? [{ kind: "new-vendor", text: "First payment." }] : [],
    }),
  );
  const said = (digest: PlanDigest): string[] =>
    [...digest.totals(planSummary(lines)), ...digest.oddLines()].map(stripVTControlCharacters);
  const byPage = new PlanDigest();
  for (let start = 0; start < lines.length; start += 7) byPage.add(lines.slice(start, start + 7));
  const all = said(byPage);
  expect(all).toEqual(said(new PlanDigest().add(lines)));
  expect(all).toContain("Needs controller or owner: 30 bills, $630.00");
  expect(all).toContain("Worth a look (20):");
  expect(all.find((line) => line.includes("new-vendor"))).toContain("$20.00");
  expect(all).toContain("  and 8 more");
});

test("a bill's name is its vendor and its dimmed number, or its id if it has no number", () => {
  vi.stubEnv("NO_COLOR", undefined);
  vi.stubEnv("FORCE_COLOR", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const escape = String.fromCodePoint(27);
  const bill = { contactName: "Osprey Robotics", publicId: "BILL-000071", payableId: "pbl_1" };
  expect(nameOf(bill)).toBe(`Osprey Robotics ${escape}[2mBILL-000071${escape}[22m`);
  expect(nameOf({ ...bill, publicId: null })).toBe(
    `Osprey Robotics ${escape}[2mpbl_1${escape}[22m`,
  );
});

test("bills over a limit count neither as to pay nor as waiting for approval", () => {
  const overLimit = { code: "over_bill_limit", text: "Over it." } as const;
  const lines = [planLine("pay_1"), ...["pay_2", "pay_3"].map((id) => planLine(id, { overLimit }))];
  const said = new PlanDigest().add(lines).totals(planSummary(lines));
  expect(said.map(stripVTControlCharacters)).toEqual(
    expect.arrayContaining([
      "1 bill to pay, $100.00",
      "Over a limit: 2 bills, $200.00, parked at once for a person, no matter who approves",
      "Needs controller: 1 bill, $100.00",
    ]),
  );
});

test("launching an existing run prints its phase, and offers approve only if it waits for one", () => {
  const id = "pay-run/acme/weekly/2026-11-20";
  const next = (phase: RunStatus["phase"], waitingFor: string | null) =>
    stripVTControlCharacters(nextCommands({ id, phase, waitingFor }, "/nowhere"));
  expect(next("awaiting-approval", null)).toMatch(/payrun show .* someone else: payrun approve/);
  const settling = next("settling", "5 bills scheduled");
  expect(settling).toMatch(/^it is settling, 5 bills scheduled · .*payrun watch weekly/);
  expect(settling).not.toContain("approve");
});

test("an account without enough money is reported as short, in a plan and in a review", () => {
  expect(stripVTControlCharacters(leftText(5_00, "after"))).toBe("$5.00 after");
  expect(stripVTControlCharacters(leftText(-5_00, "after"))).toBe("short by $5.00");
  const bills = { count: 2, cents: 20_00 };
  const account = { kind: "balance", name: "Balance", last4: null, bills } as const;
  const has = (afterCents: number) => {
    const money = { availableCents: 15_00, promisedCents: 0, afterCents };
    return [{ ...account, sourceId: "balance", ...money }];
  };
  expect(shortLines({ accounts: has(0) })).toEqual([]);
  const deposited = has(0).map((each) => ({ ...each, depositedCents: 5_00, onItsWayCents: 5_00 }));
  for (const accounts of [has(-5_00), deposited]) {
    expect(shortLines({ accounts }).map(stripVTControlCharacters)).toEqual([
      expect.stringMatching(/Balance is short by \$5\.00 .* waits for money/),
    ]);
  }
});

test("bills left out of a plan are counted by reason in plain words, most first", () => {
  const skippedByCode = { where_not_met: 39, paid: 57, not_due: 1 };
  const said = skippedCounts({ ...planSummary([]), skippedByCode }).map(stripVTControlCharacters);
  expect(said).toEqual([
    "Left out (97 bills): 57 paid already, 39 outside the playbook's “where”, 1 not due yet",
  ]);
  expect(skippedCounts({ ...planSummary([]), skippedByCode: {} })).toEqual([]);
});

test("a plan's deadline is printed in its business's zone", () => {
  const plan = { ...planSummary([]), decideBy: "2026-11-23T05:00:00Z" };
  const said = (zone?: string) =>
    new PlanDigest().totals({ ...plan, ...(zone === undefined ? {} : { zone }) }).at(-1);
  expect(said()).toMatch(/^Decide by Sunday, Nov 22, 11:59 PM New York: /);
  expect(said("America/Los_Angeles")).toMatch(/^Decide by Sunday, Nov 22, 8:59 PM Los Angeles: /);
});

test("a plan says how many bills can't be recalled once they are sent", () => {
  const flags = [{ kind: "not-recallable" as const, text: "Several scheduled payments." }];
  const lines = [planLine("pay_1", { flags }), planLine("pay_2", { flags }), planLine("pay_3")];
  const said = new PlanDigest().add(lines).oddLines().map(stripVTControlCharacters);
  expect(said).toEqual([expect.stringMatching(/^2 bills can't be recalled once sent/)]);
});
