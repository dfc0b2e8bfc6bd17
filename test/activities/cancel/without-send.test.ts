import { expect, test } from "vitest";
import type { PayOwner, PreparedJob } from "../../../activities/pay/job.ts";
import { outcomeOfPayment } from "../../../activities/pay/pay-line.ts";
import { saidByGate } from "../../../activities/shared/perform.ts";
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

function outcomeOfGate(seen: PreparedJob) {
  const { said, closed } = saidByGate({ kind: "step", step: STANDS }, CLOCK);
  return outcomeOfPayment(OWNER, said, { seen, sent: null, closed, isOpen: false, clock: CLOCK });
}

test("a retried part backs off while its failed payment is still shown as standing", () => {
  expect(outcomeOfGate(job(["p1"]))).toMatchObject({ kind: "back", waitMs: null });
});

test("a payment that its line doesn't know yet is adopted for the line", () => {
  expect(outcomeOfGate(job([]))).toMatchObject({ kind: "applied", paymentIds: ["p1"] });
});
