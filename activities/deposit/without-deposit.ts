import type { ClockReading } from "../../src/business/clock.ts";
import { growingMs } from "../../src/domain/back-off.ts";
import { accountedIds } from "../../src/ledger/derive.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import type { Reading, SubjectFacts } from "../../src/ledger/facts.ts";
import type { GateAnswer } from "../../src/ledger/gate.ts";
import { lastSend, leftAgoMs, saidNo } from "../../src/ledger/last-send.ts";
import type { TopUp } from "../../src/store/deposits/deposits.ts";
import { backOff } from "../shared/back-off.ts";
import { waitingText } from "../shared/waiting-text.ts";
import type { DepositOutcome } from "./job.ts";
import { closedWaitMs } from "./record-deposit.ts";

/** Time between lookups of a deposit whose effect is not known, on the service's clock. */
const LOOKS = { share: 0.1, firstMs: 1_000, mostMs: 60_000 } as const;

/** Judges a deposit that the gate hasn't let through. */
export function withoutDeposit(
  topUp: TopUp,
  facts: SubjectFacts,
  answer: Exclude<GateAnswer, { readonly kind: "open" }>,
  { reading, clock }: { readonly reading: Reading; readonly clock: ClockReading },
): DepositOutcome {
  const { step } = answer;
  const closed = answer.kind === "closed" ? answer.closed.reason : null;
  const longerMs = growingMs(clock.serviceMs - (topUp.backOffSinceMs ?? clock.serviceMs), LOOKS);
  switch (step.kind) {
    case "adopt":
    case "applied": {
      const [transactionId = ""] = step.ids;
      const key = facts.attempts.find(({ seq }) => seq === step.seq)?.idempotencyKey ?? "";
      const isFound = step.kind === "adopt" || step.found;
      return { kind: "made", transactionId, key, answer: isFound ? "found by lookup" : "2xx" };
    }
    case "person":
      return unclear(facts, reading, step, longerMs);
    case "read":
      return backOff(longerMs, step.reason);
    case "wait": {
      const last = lastSend(facts.attempts);
      const mostMs = growingMs(last === undefined ? 0 : leftAgoMs(last, reading), LOOKS);
      const reason =
        closed === null
          ? waitingText(step, clock)
          : `It was sent without an answer, and may not be sent again now (${closed}).`;
      return backOff(Math.min(step.waitMs, mostMs), reason);
    }
    case "idle":
      return closed === null ? cameToNothing(topUp, facts) : backOff(closedWaitMs(clock), closed);
  }
}

function unclear(
  facts: SubjectFacts,
  { shownIds }: Reading,
  { code, reason }: { readonly code: string; readonly reason: string },
  waitMs: number,
): DepositOutcome {
  const accounted = accountedIds(facts);
  const ids = shownIds.filter((id) => !accounted.has(id)).join(", ");
  const what =
    code === "unaccounted"
      ? `It had no answer, and the service shows what may or may not be it (${ids})`
      : reason;
  const asked = `${what}: look at the list of balance transactions, then reject it (for an incident: decide otherwise) or wait.`;
  return { ...backOff(waitMs, asked), code: "unclear" };
}

/** Judges a deposit of which nothing was made and nothing can be made any more. */
function cameToNothing({ owner }: TopUp, { attempts }: SubjectFacts): DepositOutcome {
  const last = lastSend(attempts);
  const isNo = last?.result === "rejected" || saidNo(attempts, owner) !== undefined;
  if (!isNo) return backOff(0, null);
  const said = `(${last?.code ?? ""}).${serviceSays(last?.message)}`;
  return { kind: "refused", reason: `The service refused the deposit ${said}` };
}
