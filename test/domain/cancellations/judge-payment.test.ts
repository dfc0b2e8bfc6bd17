import { describe, expect, test } from "vitest";
import { judgeForCancel } from "../../../src/domain/cancellations/judge-payment.ts";

const noon = Date.parse("2026-07-14T16:00:00Z");
const facts = { severalScheduled: false, refused: false, businessMs: noon, scale: 1 };
const scheduledAt = "2026-07-15T13:00:00.000Z";

function judge(status: string, more: Partial<typeof facts> = {}) {
  return judgeForCancel({ status, scheduledAt, failureReason: null }, { ...facts, ...more });
}

describe("whether a payment can be cancelled", () => {
  test("a scheduled one, until shortly before 9:00 New York on its date", () => {
    expect(judge("scheduled")).toEqual({
      kind: "cancel",
      untilMs: Date.parse("2026-07-15T12:55:00Z"),
    });
    const atCutOff = Date.parse("2026-07-15T12:55:00Z");
    expect(judge("scheduled", { businessMs: atCutOff }).kind).toBe("cancel");
    const late = judge("scheduled", { businessMs: atCutOff + 1 });
    expect(late).toMatchObject({ kind: "ended", state: "too-late" });
  });

  test("one that is held, at any time", () => {
    expect(judge("held", { businessMs: noon + 30 * 86_400_000 })).toEqual({
      kind: "cancel",
      untilMs: null,
    });
  });

  test("none of several scheduled ones of one bill, but one that is held beside them", () => {
    expect(judge("scheduled", { severalScheduled: true })).toMatchObject({
      kind: "ended",
      state: "several-scheduled",
    });
    expect(judge("held", { severalScheduled: true }).kind).toBe("cancel");
  });

  test("nor one that is held beside them, where the service has refused it", () => {
    const refused = { severalScheduled: true, refused: true };
    expect(judge("held", refused)).toMatchObject({ kind: "ended", state: "several-scheduled" });
    expect(judge("held", { refused: true }).kind).toBe("cancel");
  });

  test.each(["processing", "completed", "failed", "returned"])("not one that is %s", (status) => {
    expect(judge(status)).toMatchObject({ kind: "ended", state: "too-late" });
  });

  test("what is cancelled already is, whoever did it", () => {
    expect(judge("cancelled")).toMatchObject({ kind: "ended", state: "cancelled" });
    expect(judge("refunded")).toMatchObject({ kind: "ended", state: "refunded" });
    expect(judge("refund_pending").kind).toBe("returning");
  });

  test.each([
    ["PROVIDER", /back at the bank/],
    ["SERVICE", /in the balance or on its way there/],
    [null, /The money is back/],
  ])("says where the money of a refunded one is: %s", (paymentRail, where) => {
    const refunded = { status: "refunded", scheduledAt: null, paymentRail };
    expect(judgeForCancel(refunded, facts)).toMatchObject({ reason: expect.stringMatching(where) });
  });

  test.each(["pending", "teleported"])("one that is %s is looked at again", (status) => {
    expect(judge(status).kind).toBe("later");
  });

  test.each([null, "soon"])(
    "with “%s” for a date the service decides whether it is too late",
    (at) => {
      const verdict = judgeForCancel({ status: "scheduled", scheduledAt: at }, facts);
      expect(verdict).toEqual({ kind: "cancel", untilMs: null });
    },
  );
});
