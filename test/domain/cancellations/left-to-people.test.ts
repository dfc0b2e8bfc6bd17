import { expect, test } from "vitest";
import { judgeForCancel } from "../../../src/domain/cancellations/judge-payment.ts";
import { leftToPeople, saidNow } from "../../../src/domain/cancellations/left-to-people.ts";
import { ClockReading } from "../../../src/business/clock.ts";

type Item = Parameters<typeof leftToPeople>[0][number];

const NOW_MS = Date.parse("2026-07-15T12:57:00Z");

/** A payment that a cancel finds at 8:57 New York on the payment's date, a Wednesday. */
function found(status: string, amountCents = 100_00): Item {
  const payment = { status, scheduledAt: "2026-07-15T13:00:00.000Z", failureReason: "R02 closed" };
  const severalScheduled = status === "several";
  const verdict = judgeForCancel(
    { ...payment, status: severalScheduled ? "scheduled" : status },
    { severalScheduled, clock: new ClockReading({ businessMs: NOW_MS }) },
  );
  if (verdict.kind !== "ended") throw new Error(`${status} is not at its end`);
  const { state, reason, goesOutAtMs = null } = verdict;
  return { paymentId: "pay_1", amountCents, state, reason, goesOutAtMs, cancelledAtMs: NOW_MS };
}

test.each([
  [
    "processing",
    "Already with the bank, so the money arrives at the vendor. To have the money back",
  ],
  [
    "completed",
    "Already settled, so the vendor has the money. To have the money back, ask the vendor",
  ],
  [
    "scheduled",
    "Too close to 9:00 New York on its date to be cancelled safely, so the money arrives",
  ],
  [
    "several",
    "The money goes out on Wed, Jul 15: ask the service's support to stop it before then",
  ],
  ["failed", "Already failed (R02 closed), so there was nothing to cancel."],
])(
  "a payment that a cancel finds %s is left to a person, with what can be done",
  (status, said) => {
    const text = leftToPeople([found(status)], NOW_MS) ?? "";
    expect(text).toMatch(/^a person, about 1 payment of \$100\.00: /);
    expect(text).toContain(said);
  },
);

test("payments with one cause are listed once, with their sum, and cancelled ones are not listed", () => {
  const items = [found("processing"), found("processing", 50_00), found("cancelled")];
  expect(leftToPeople([...items, found("completed", 7_00)], NOW_MS)).toBe(
    "a person, about 2 payments of $150.00: Already with the bank, so the money arrives at the vendor. To have the money back, ask the vendor to return it. And 1 payment of $7.00: Already settled, so the vendor has the money. To have the money back, ask the vendor to return it. This is asked until Wed, Jul 22.",
  );
  expect(leftToPeople([found("cancelled"), found("refunded")], NOW_MS)).toBeNull();
});

test("of many causes the first three are listed, and the payments of all others are counted", () => {
  const unknown = (reason: string): Item => ({ ...found("processing"), state: "unknown", reason });
  const text = leftToPeople(["One.", "Two.", "Three.", "Four.", "Five."].map(unknown), NOW_MS);
  expect(text).toMatch(/\$100\.00: Three\. And 2 more of \$200\.00\.$/);
});

test("a bill that could not be held back is called a bill, not a payment", () => {
  const bill = { paymentId: null, amountCents: 9_00, state: "too-late", reason: "Sent." } as const;
  const item = { ...bill, goesOutAtMs: null, cancelledAtMs: null };
  expect(leftToPeople([item], NOW_MS)).toBe("a person, about 1 bill of $9.00: Sent.");
});

const day = (date: string): number => Date.parse(`${date}T14:00:00Z`);

test("once the date of several payments has passed, only the vendor is to be asked, and after five banking days nobody", () => {
  const items = [found("several", 100_00), found("several", 50_00)];
  const before = leftToPeople(items, NOW_MS);
  expect(before).toMatch(/^a person, about 2 payments of \$150\.00: .*before then, or the vendor/);
  expect(before).toMatch(/This is asked until Wed, Jul 22\.$/);
  for (const date of ["2026-07-15", "2026-07-22"]) {
    const after = leftToPeople(items, day(date));
    expect(after).toContain(
      "The money went out on Wed, Jul 15. To have the money back, ask the vendor to return it.",
    );
    expect(after).not.toMatch(/goes out|before then|service's support/);
  }
  expect(leftToPeople(items, day("2026-07-23"))).toBeNull();
});

test("the text about several payments follows what the service has held, cancelled or sent since", () => {
  const several = found("several");
  const said = (status: string) => saidNow({ ...several, status }, day("2026-07-29"));
  expect(said("held")).toMatchObject({ asks: true, lastDay: null });
  expect(said("held").reason).toMatch(/The money has not gone out: ask the service's support/);
  expect(said("cancelled")).toMatchObject({ asks: false });
  expect(said("cancelled").reason).toMatch(/cancelled since: the vendor doesn’t have the money/);
  const sent = saidNow({ ...several, goesOutAtMs: null, status: "completed" }, NOW_MS);
  expect(sent).toMatchObject({ asks: true, lastDay: "2026-07-22" });
  expect(sent.reason).toMatch(/The money has gone out\. To have the money back, ask the vendor/);
});

test("once the date of a bill that the service already had has passed, its money is said to be out", () => {
  const reason = "The service has it already, until a person takes it back: payrun …";
  const goesOutAtMs = day("2026-07-20");
  const state = "too-late";
  const bill = { paymentId: null, amountCents: 9_00, state, reason, goesOutAtMs } as const;
  const item = { ...bill, cancelledAtMs: NOW_MS };
  expect(saidNow(item, NOW_MS).reason).toBe(reason);
  expect(saidNow(item, goesOutAtMs).reason).toMatch(/^The money went out on Mon, Jul 20\. /);
});

test("a question that a person must find out about has no last day", () => {
  const item = { ...found("processing"), state: "unknown", reason: "Ask the service." } as const;
  expect(leftToPeople([item], day("2027-07-15"))).toMatch(/Ask the service\.$/);
});
