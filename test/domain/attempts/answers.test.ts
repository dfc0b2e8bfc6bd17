import { describe, expect, it } from "vitest";
import {
  type AnswerInput,
  type Decision,
  decideAnswer,
} from "../../../src/domain/attempts/answers.ts";

const PAYMENT = { id: "pay_1", status: "scheduled", amountCents: 100 };

function decide(
  status: number,
  body: unknown,
  more: Partial<Omit<AnswerInput, "answer">> & { retryAfterMs?: number } = {},
): Decision {
  const { retryAfterMs, ...rest } = more;
  return decideAnswer({
    answer: { kind: "http", status, body, retryAfterMs },
    operation: "pay",
    earlierRejection: null,
    earlierAnswered: false,
    sentPastWindow: false,
    ...rest,
  });
}

function error(code: string, details?: object) {
  return { error: code, message: `says ${code}`, ...(details === undefined ? {} : { details }) };
}

describe("an answer to a money write", () => {
  it("is applied on 2xx with the documented shape", () => {
    expect(decide(201, { payableId: "p", payments: [PAYMENT] })).toEqual({ kind: "applied" });
    expect(decide(200, { payment: PAYMENT, message: "" }, { operation: "cancel" }).kind).toBe(
      "applied",
    );
  });

  it("is applied on any 2xx of retry-payment, whose shape the specification does not show", () => {
    expect(decide(201, undefined, { operation: "retry" }).kind).toBe("applied");
  });

  it.each([
    [201, undefined],
    [201, "<html>"],
    [201, { payments: [] }],
    [201, { payments: [{ id: "pay_1" }] }],
    [204, undefined],
    [302, undefined],
    [408, error("timeout")],
    [404, "<html>Not here</html>"],
    [404, { error: "Not Found", message: "Cannot POST" }],
    [500, error("internal")],
    [502, "<html>"],
    [503, error("validation_error")],
  ])("is unknown where it lacks the documented shape or is a %s", (status, body) => {
    const decision = decide(status, body);
    expect(decision).toMatchObject({ kind: "unknown", retrySameKey: true, mayHaveArrived: true });
  });

  it("is unknown without an answer, and says when the request never left", () => {
    const input = {
      operation: "pay",
      earlierRejection: null,
      earlierAnswered: false,
      sentPastWindow: false,
    } as const;
    const lost = { kind: "no-answer", sent: true, reason: "timed out" } as const;
    expect(decideAnswer({ answer: lost, ...input })).toMatchObject({ mayHaveArrived: true });
    const unsent = { kind: "no-answer", sent: false, reason: "refused" } as const;
    expect(decideAnswer({ answer: unsent, ...input })).toMatchObject({ mayHaveArrived: false });
  });

  it.each([409, 500, 503])(
    "kills the key on payment_unconfirmed, also with status %s",
    (status) => {
      expect(decide(status, error("payment_unconfirmed"))).toEqual({
        kind: "key-dead",
        reason: "unconfirmed",
      });
    },
  );

  it("waits on a conflict, and looks up once it was sent past the window", () => {
    expect(decide(409, error("idempotency_conflict"))).toEqual({
      kind: "in-flight",
      lookUp: false,
    });
    expect(decide(409, error("idempotency_conflict"), { sentPastWindow: true })).toEqual({
      kind: "in-flight",
      lookUp: true,
    });
  });

  it("believes that a rejected key is dead only when its rejection is replayed", () => {
    const first = decide(422, error("validation_error", { field: "scheduledAt" }));
    expect(first).toEqual({
      kind: "rejected",
      status: 422,
      code: "validation_error",
      field: "scheduledAt",
      message: "says validation_error",
    });
    const earlierRejection = { status: 422, code: "validation_error" };
    const dead = { kind: "key-dead", reason: "replayed-rejection" };
    expect(decide(422, error("validation_error"), { earlierRejection })).toEqual(dead);
    expect(decide(404, error("not_found"), { earlierRejection }).kind).toBe("rejected");
  });

  it("says that a key is bound to other bytes where it conflicts and nothing of ours is in flight", () => {
    const conflict = error("idempotency_conflict");
    expect(decide(409, conflict, { earlierAnswered: true })).toEqual({
      kind: "key-dead",
      reason: "replayed-rejection",
    });
    const earlierRejection = { status: 422, code: "validation_error" };
    expect(decide(409, conflict, { earlierRejection }).kind).toBe("in-flight");
  });

  it("rejects retry-payment where the service has no such path, and nothing else", () => {
    const router = { statusCode: 404, message: "Cannot POST", error: "Not Found" };
    expect(decide(404, router, { operation: "retry" })).toMatchObject({
      kind: "rejected",
      code: "not_supported",
    });
    expect(decide(404, router).kind).toBe("unknown");
    expect(decide(502, "<html>", { operation: "retry" }).kind).toBe("unknown");
  });

  it.each([400, 402, 409, 422, 503])(
    "lets a state refusal's code decide, whatever its status (%s)",
    (status) => {
      expect(decide(status, error("approval_required")).kind).toBe("line-wait");
      expect(decide(status, error("contact_not_payable")).kind).toBe("line-wait");
      expect(decide(status, error("payment_in_progress")).kind).toBe("look-up");
      expect(decide(status, error("insufficient_balance"))).toMatchObject({
        kind: "business-wait",
        scope: "source",
      });
      for (const code of [
        "payments_locked",
        "setup_required",
        "setup_incomplete",
        "feature_unavailable",
      ]) {
        const decision = decide(status, error(code));
        expect(decision).toMatchObject({ kind: "business-wait", scope: "business", code });
      }
    },
  );

  it("reads a 403 with feature_unavailable as a wait, any other as missing permission", () => {
    expect(decide(403, error("feature_unavailable")).kind).toBe("business-wait");
    expect(decide(403, { statusCode: 403, message: "Forbidden" })).toEqual({
      kind: "forbidden",
      message: "Forbidden",
    });
  });

  it("reads 401 and 429 by their status, whatever their body", () => {
    expect(decide(401, { statusCode: 401, message: "Unauthorized" })).toEqual({
      kind: "unauthorized",
    });
    expect(decide(429, "slow down", { retryAfterMs: 7_000 })).toEqual({
      kind: "rate-limited",
      retryAfterMs: 7_000,
    });
    expect(decide(429, undefined)).toMatchObject({ kind: "rate-limited" });
  });

  it("parks on codes that nobody knows yet, where a 4xx carries one", () => {
    expect(decide(418, error("tea_only"))).toMatchObject({ kind: "rejected", code: "tea_only" });
    expect(decide(409, error("payment_not_cancellable"), { operation: "cancel" })).toMatchObject({
      kind: "rejected",
      code: "payment_not_cancellable",
    });
  });
});
