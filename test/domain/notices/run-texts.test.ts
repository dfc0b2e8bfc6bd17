import { describe, expect, test } from "vitest";

import type { LineState } from "../../../src/contracts/line-states.ts";
import type { RunPhase } from "../../../src/contracts/pay-run.ts";
import { calledBackText } from "../../../src/domain/runs/after-end.ts";
import { approvalReminder } from "../../../src/domain/notices/approval-texts.ts";
import { parked, runEnded } from "../../../src/domain/notices/run-texts.ts";

const run = { runId: "run/acme/rent/2026-11-26", playbook: "rent", period: "2026-11-26" };

const bill = (payableId: string, isGivenBack: boolean) => ({
  payableId,
  state: "parked" as const,
  amountCents: 12_345,
  reasonCode: "R02",
  reason: "R02 Account closed.",
  isGivenBack,
});

describe("a notice of parked bills", () => {
  test("a notice of parked bills asks for a person and lists given-back bills separately", () => {
    const { subject, text } = parked(run, [bill("one", false), bill("two", true)]);
    expect(subject).toBe("rent 2026-11-26: 1 bill of $123.45 needs a person");
    expect(text.split("\n")).toEqual([
      "Run run/acme/rent/2026-11-26 goes on without:",
      "- one, $123.45: R02 Account closed.",
      "Act with: payrun resolve PAYABLE_ID --retry, --paid-elsewhere or --give-up, and --reason",
      "Run run/acme/rent/2026-11-26 has given back, and the next run plans anew:",
      "- two, $123.45: R02 Account closed.",
    ]);
  });

  test("a notice of a bill over a limit says how the bill gets paid, and doesn't offer a retry", () => {
    const over = {
      ...bill("one", false),
      reasonCode: "over_vendor_week_limit",
      reason: "Over it.",
    };
    const acts = (text: string) => text.split("\n").filter((line) => line.startsWith("Act with"));
    const ways = [
      expect.stringMatching(
        /^Act with: Over limits\.vendorPerWeek .* whose week has room .*payrun pay PAYABLE_ID does/,
      ),
      "Act with: payrun resolve PAYABLE_ID --paid-elsewhere or --give-up, and --reason",
    ];
    expect(acts(parked(run, [over]).text)).toEqual(ways);
    expect(acts(parked(run, [over, bill("two", false)]).text)).toEqual([
      ways[0],
      expect.stringContaining("--retry"),
    ]);
  });

  test("a notice asks for no action if all parked bills were given back", () => {
    const { subject, text } = parked(run, [bill("one", true), bill("two", true)]);
    expect(subject).toBe("rent 2026-11-26: 2 bills of $246.90 wait for the next run");
    expect(text).not.toContain("Act with");
  });

  test("a notice of a partly paid bill counts only the rest, in the bill's line and in the sum", () => {
    const parts = { settledCents: 10_000, onItsWayCents: 0, openCents: 2_345 };
    const { subject, text } = parked(run, [{ ...bill("one", false), parts }, bill("two", false)]);
    expect(subject).toBe("rent 2026-11-26: 2 bills of $146.90 need a person");
    expect(text).toContain("- one, $23.45 of $123.45: R02 Account closed.");
  });

  test("a long notice of parked bills lists ten bills and counts the others", () => {
    const lines = Array.from({ length: 12 }, (_, index) => bill(`bill-${index}`, false));
    expect(parked(run, lines).text.split("\n").slice(10, 12)).toEqual([
      "- bill-9, $123.45: R02 Account closed.",
      "- and 2 more",
    ]);
  });
});

test("a notice of a run's end says what was called back, and doesn't call a run complete that paid nothing", () => {
  const one = { count: 1, cents: 12_345 };
  const subject = (states: readonly LineState[], phase: RunPhase = "completed") => {
    const sums = new Map(states.map((state) => [state, one]));
    return runEnded(run, phase, sums, calledBackText(phase, Object.fromEntries(sums))).subject;
  };
  expect(subject(["settled"])).toBe("rent 2026-11-26 is complete, $123.45 settled");
  expect(subject(["settled", "cancelled"])).toBe(
    "rent 2026-11-26 is complete, $123.45 settled; 1 bill of 2, $123.45, was called back or left out",
  );
  expect(subject(["cancelled"])).toBe(
    "rent 2026-11-26 has ended; nothing of it was paid: its one bill, $123.45, was called back or left out",
  );
  expect(subject([])).toBe("rent 2026-11-26 had nothing to pay");
  const held = runEnded(run, "completed", new Map(), undefined, { on_hold: 5 });
  expect(held.subject).toBe("rent 2026-11-26 paid nothing: 5 bills on hold");
  expect(subject(["cancelled"], "rejected")).toBe("rent 2026-11-26 was rejected");
});

test("a reminder of bills that wait only for a word asks for it, and names its command", () => {
  const { subject, text } = approvalReminder(
    run,
    {
      ...{ ruleIndex: 0, stage: 0, stages: 1, given: 0, quorum: 1, count: 1, cents: 10_000 },
      ...{ escalated: false, isHurried: false, isHeld: false, asksRecord: true, by: ["owner"] },
      ...{ sinceMs: null, sinceRealMs: null, remindAtMs: null, escalateAtMs: null },
      escalatesTo: [],
    },
    { decideBy: null },
  );
  expect(subject).toBe(
    "rent 2026-11-26: 1 bill of $100.00 still waits for one word: is the vendor's account still right?",
  );
  expect(text.split("\n")).toEqual([
    "owner, who says whether the vendor's account is still right, was asked.",
    `If it is: payrun approve ${run.runId} --same-account VENDOR, or all`,
  ]);
});
