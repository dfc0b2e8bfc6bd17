import { describe, expect, test } from "vitest";
import { judgeForCancel } from "../../../src/domain/cancellations/judge-payment.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const noon = Date.parse("2026-07-14T16:00:00Z");
const facts = { severalScheduled: false, refused: false };
const clock = new ClockReading({ businessMs: noon });
const scheduledAt = "2026-07-15T13:00:00.000Z";

function judge(
  status: string,
  { businessMs = noon, ...more }: Partial<typeof facts> & { readonly businessMs?: number } = {},
) {
  const asked = { ...facts, ...more, clock: clock.with({ businessMs }) };
  return judgeForCancel({ status, scheduledAt, failureReason: null }, asked);
}

describe("whether a payment can be cancelled", () => {
  test("a scheduled payment can be cancelled until shortly before 9:00 New York on its date", () => {
    expect(judge("scheduled")).toEqual({
      kind: "cancel",
      untilMs: Date.parse("2026-07-15T12:55:00Z"),
    });
    const atCutOff = Date.parse("2026-07-15T12:55:00Z");
    expect(judge("scheduled", { businessMs: atCutOff }).kind).toBe("cancel");
    const late = judge("scheduled", { businessMs: atCutOff + 1 });
    expect(late).toMatchObject({ kind: "ended", state: "too-late" });
  });

  test("a held payment can be cancelled at any time", () => {
    expect(judge("held", { businessMs: noon + 30 * 86_400_000 })).toEqual({
      kind: "cancel",
      untilMs: null,
    });
  });

  test("if a bill has several scheduled payments, none of them can be cancelled, but a held one can", () => {
    expect(judge("scheduled", { severalScheduled: true })).toMatchObject({
      kind: "ended",
      state: "several-scheduled",
    });
    expect(judge("held", { severalScheduled: true }).kind).toBe("cancel");
  });

  test("a held payment beside several scheduled ones can't be cancelled once the service has refused it", () => {
    const refused = { severalScheduled: true, refused: true };
    expect(judge("held", refused)).toMatchObject({ kind: "ended", state: "several-scheduled" });
    expect(judge("held", { refused: true }).kind).toBe("cancel");
  });

  test.each(["processing", "completed", "failed", "returned"])(
    "a payment that is %s can't be cancelled",
    (status) => {
      expect(judge(status)).toMatchObject({ kind: "ended", state: "too-late" });
    },
  );

  test("a payment cancelled by anyone counts as cancelled", () => {
    expect(judge("cancelled")).toMatchObject({ kind: "ended", state: "cancelled" });
    expect(judge("refunded")).toMatchObject({ kind: "ended", state: "refunded" });
    expect(judge("refund_pending").kind).toBe("returning");
  });

  test.each([
    ["PROVIDER", /back at the bank/],
    ["SERVICE", /in the balance or on its way there/],
    [null, /The money is back/],
  ])(
    "the verdict on a refunded payment of the rail %s says where its money is",
    (paymentRail, where) => {
      const refunded = { status: "refunded", scheduledAt: null, paymentRail };
      expect(judgeForCancel(refunded, { ...facts, clock })).toMatchObject({
        reason: expect.stringMatching(where),
      });
    },
  );

  test.each(["pending", "teleported"])("a payment that is %s is judged again later", (status) => {
    expect(judge(status).kind).toBe("later");
  });

  test.each([null, "soon"])(
    "if a payment's date is “%s”, the service decides whether it is too late",
    (at) => {
      const verdict = judgeForCancel({ status: "scheduled", scheduledAt: at }, { ...facts, clock });
      expect(verdict).toEqual({ kind: "cancel", untilMs: null });
    },
  );
});
