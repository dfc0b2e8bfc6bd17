import { expect, test } from "vitest";
import { withoutSend } from "../../../activities/pay/ask-gate.ts";
import type { PayOwner, PreparedJob } from "../../../activities/pay/job.ts";
import { ClockReading } from "../../../src/business/clock.ts";
import type { GateStep } from "../../../src/ledger/gate.ts";
import { WISH } from "../../ledger/facts.ts";

const STANDS: GateStep = {
  ...{ kind: "applied", seq: 1, ids: ["p1"], found: false },
  line: WISH,
};

const CLOCK = new ClockReading({ businessMs: 0, serviceHeard: true });

const OWNER = {} as PayOwner;

function job(paymentIds: readonly string[]): PreparedJob {
  const line = { runId: WISH.runId, lineHash: WISH.approvedHash, paymentIds };
  const otherwise = { kind: "back", waitMs: 0, reason: "read again" };
  return { line, payments: [], wish: WISH, otherwise } as unknown as PreparedJob;
}

test("a retried part backs off while its failed payment is still shown as standing", () => {
  const outcome = withoutSend(OWNER, job(["p1"]), { kind: "step", step: STANDS }, CLOCK);
  expect(outcome).toMatchObject({ kind: "back", waitMs: null });
});

test("a payment that its line doesn't know yet is adopted for the line", () => {
  const outcome = withoutSend(OWNER, job([]), { kind: "step", step: STANDS }, CLOCK);
  expect(outcome).toMatchObject({ kind: "applied", paymentIds: ["p1"] });
});
