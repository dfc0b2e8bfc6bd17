import { describe, expect, test } from "vitest";
import {
  type CancellationView,
  judgeCancellation,
  type ProgressItem,
} from "../../../src/domain/cancellations/progress.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const clock = new ClockReading({ businessMs: 1_000_000, serviceMs: 500_000 });

function item(change: Partial<ProgressItem> = {}): ProgressItem {
  return {
    paymentId: "pay_1",
    payableId: "pbl_1",
    amountCents: 100_00,
    state: "unknown",
    open: true,
    reason: null,
    releaseByMs: null,
    goesOutAtMs: null,
    cancelledAtMs: null,
    notBeforeMs: 0,
    pollAtMs: 0,
    updatedAtMs: 1,
    ...change,
  };
}

function view(items: ProgressItem[], change: Partial<CancellationView> = {}): CancellationView {
  return {
    business: "default",
    playbook: "",
    requestedBy: "operator",
    chosen: true,
    choiceWaitsFor: null,
    holdsBack: false,
    releasedBy: ["controller", "owner"],
    items,
    waits: [],
    clock,
    ...change,
  };
}

describe("the state of a cancellation", () => {
  test("bills that nobody released in time go on waiting for the people who may release them", () => {
    const late = item({ paymentId: null, state: "withheld", open: false, reason: "Nobody did." });
    const withholding = { holdsBack: true, releasedBy: ["controller", "owner"] };
    expect(judgeCancellation(view([late], withholding))).toMatchObject({
      ended: true,
      waitingFor: "controller or owner to release 1 held-back bill, $100.00, not paid until then",
      needsAction: true,
    });
    const released = item({ paymentId: null, state: "released", open: false });
    expect(judgeCancellation(view([released], withholding))).toMatchObject({
      waitingFor: null,
      needsAction: false,
    });
    // A bill that a cancel has put on hold waits for nobody: its author wanted that.
    expect(judgeCancellation(view([late], { releasedBy: [] })).waitingFor).toBeNull();
  });

  test("a cancellation chooses first, and waits for its run's plan", () => {
    expect(judgeCancellation(view([], { chosen: false }))).toMatchObject({
      phase: "choosing",
      toChoose: true,
      ended: false,
    });
    const waiting = judgeCancellation(view([], { chosen: false, choiceWaitsFor: "the plan" }));
    expect(waiting).toMatchObject({ toChoose: false, waitingFor: "the plan" });
  });

  test("a cancellation shows the results of finished payments", () => {
    const done = (state: ProgressItem["state"]) => item({ open: false, state });
    const items = [done("cancelled"), done("cancelled"), done("too-late"), item()];
    expect(judgeCancellation(view(items))).toMatchObject({
      soFar: "2 cancelled, 1 too-late",
      waitingFor: "1 payment to be cancelled",
    });
  });

  test("a cancellation cancels what is due, and leaves payments in back-off alone", () => {
    const now = judgeCancellation(view([item(), item({ notBeforeMs: 502_000 })]));
    expect(now).toMatchObject({ phase: "cancelling", toCancel: 1, ended: false });
    const resting = judgeCancellation(view([item({ notBeforeMs: 502_000 })]));
    expect(resting).toMatchObject({ toCancel: 0, wakeInMs: 2_000 });
  });

  test("a cancellation says why nothing is cancelled yet if all payments wait for one reason", () => {
    const waits = item({ reason: "The store was restored. Nothing is sent until 4:03 AM." });
    expect(judgeCancellation(view([waits, waits])).waitingFor).toBe(
      "2 payments to be cancelled: The store was restored. Nothing is sent until 4:03 AM",
    );
    const both = judgeCancellation(view([waits, item()]));
    expect(both.waitingFor).toBe("2 payments to be cancelled");
  });

  test("a cancellation no longer says what kept its payments back once one of them has ended", () => {
    const reason = "The store was restored. Nothing is sent until 4:03 AM.";
    const waits = item({ reason, updatedAtMs: 2 });
    const gone = item({ open: false, state: "cancelled", updatedAtMs: 3 });
    expect(judgeCancellation(view([gone, waits, waits])).waitingFor).toBe(
      "2 payments to be cancelled",
    );
    // The payment ended before that, or the others are still in back-off.
    const before = { ...gone, updatedAtMs: 1 };
    expect(judgeCancellation(view([before, waits])).waitingFor).toContain("4:03 AM");
    const rests = { ...waits, notBeforeMs: 502_000 };
    expect(judgeCancellation(view([gone, rests])).waitingFor).toContain("4:03 AM");
  });

  test("a cancellation says which payments and requests it waits for, and takes up both", () => {
    const items = [item(), item({ paymentId: null, payableId: "pbl_2" })];
    expect(judgeCancellation(view(items))).toMatchObject({
      phase: "cancelling",
      waitingFor: "1 payment to be cancelled; the result of 1 request under way",
      toCancel: 2,
    });
  });

  test("a hold leaves the requests of its bills to the bills' run", () => {
    const now = judgeCancellation(view([item({ paymentId: null })], { holdsBack: true }));
    expect(now).toMatchObject({ toCancel: 0, waitingFor: "the result of 1 request under way" });
  });

  test("a cancellation does nothing while the whole business waits", () => {
    const waits = [{ message: "The service asked to slow down (429).", retryAtMs: 510_000 }];
    const now = judgeCancellation(view([item()], { waits }));
    expect(now).toMatchObject({ toCancel: 0, wakeInMs: 10_000 });
    expect(now.waitingFor).toMatch(/slow down/);
  });

  test("a cancellation reads refunds when they are due", () => {
    const refund = item({ state: "refund_pending", pollAtMs: 1_060_000 });
    const now = judgeCancellation(view([refund]));
    expect(now).toMatchObject({ phase: "following", toFollow: 0, wakeInMs: 60_000 });
    const later = clock.with({ businessMs: 1_060_000 });
    expect(judgeCancellation(view([refund], { clock: later })).toFollow).toBe(1);
  });

  test("a hold says who may release its bills, and needs their action", () => {
    const now = judgeCancellation(view([item({ state: "withheld", paymentId: null })]));
    expect(now).toMatchObject({ phase: "withholding", needsAction: true });
    expect(now.waitingFor).toBe("controller or owner to release 1 held-back bill");
  });

  test("a hold wakes as soon as nobody may release its bills any more", () => {
    const bill = { state: "withheld", paymentId: null } as const;
    const releaseByMs = clock.businessMs + 3_600_000;
    const now = judgeCancellation(view([item(bill), item({ ...bill, releaseByMs })]));
    expect(now.wakeInMs).toBe(3_600_001);
  });

  test("a cancellation ends once nothing is open, with exceptions if money may have left", () => {
    const done = item({ state: "cancelled", open: false });
    expect(judgeCancellation(view([done]))).toMatchObject({ phase: "completed", ended: true });
    const late = item({ state: "too-late", open: false, reason: "The vendor has the money." });
    const left = "a person, about 1 payment of $100.00: The vendor has the money.";
    expect(judgeCancellation(view([done, late]))).toMatchObject({
      phase: "completed-with-exceptions",
      exceptions: 1,
      needsAction: true,
      waitingFor: left,
      details: expect.stringContaining(`Waits for: **${left}**`),
    });
    expect(judgeCancellation(view([done])).waitingFor).toBeNull();
    expect(judgeCancellation(view([]))).toMatchObject({ phase: "completed", totalCents: 0 });
  });

  test("a cancellation's details show at most fifty payments", () => {
    const many = Array.from({ length: 60 }, () => item());
    expect(judgeCancellation(view(many)).details).toMatch(/and 10 more/);
  });
});
