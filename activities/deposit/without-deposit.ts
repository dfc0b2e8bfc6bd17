import { growingMs } from "../../src/domain/back-off.ts";
import { accountedIds, madeIdsOf } from "../../src/ledger/derive.ts";
import { serviceSays } from "../../src/domain/service-words.ts";
import type { Reading, SubjectFacts } from "../../src/ledger/facts.ts";
import { lastSend, leftAgoMs, saidNo } from "../../src/ledger/last-send.ts";
import type { TopUp } from "../../src/store/deposits/deposits.ts";
import type { Said } from "../../src/ledger/said.ts";
import { backOff, backOffAfter } from "../shared/back-off.ts";
import { businessFault } from "../shared/business-fault.ts";
import type { Heard } from "../shared/perform.ts";
import type { Needed } from "./demand.ts";
import type { DepositOutcome } from "./job.ts";
import { closedWaitMs } from "./record-deposit.ts";

/** What was read for a deposit. */
export interface SeenBalance {
  /** What is missing now; null if it was sent before. */
  readonly needed: Needed | null;
  readonly reading: Reading;
}

/** Time between lookups of a deposit whose effect is not known, on the service's clock. */
const LOOKS = { share: 0.1, firstMs: 1_000, mostMs: 60_000 } as const;

/** Back-off after a refusal that only a person can end, at the service. */
const REFUSED = { firstMs: 15_000, mostMs: 600_000 };

/**
 * Judges what becomes of a request for a deposit, by what was said of it.
 *
 * @param facts what the ledger knows of it, after the gate
 */
export function outcomeOfDeposit(
  topUp: TopUp,
  said: Said,
  { seen: { reading }, sent, closed, clock }: Heard<SeenBalance>,
  facts: SubjectFacts,
): DepositOutcome {
  const longerMs = growingMs(clock.serviceMs - (topUp.backOffSinceMs ?? clock.serviceMs), LOOKS);
  switch (said.kind) {
    case "applied": {
      const [transactionId = ""] = said.ids;
      const made = facts.attempts.find((each) => madeIdsOf(each).includes(transactionId));
      const key = sent?.send.idempotencyKey ?? made?.idempotencyKey ?? "";
      return { kind: "made", transactionId, key, answer: said.found ? "found by lookup" : "2xx" };
    }
    case "person":
      return unclear(facts, reading, said, longerMs);
    case "refused":
      return { kind: "refused", reason: refusal(said.code, said.message) };
    case "unknown":
    case "later":
      break;
    case "closed":
    case "idle":
      return closed === null
        ? cameToNothing(topUp, facts)
        : backOff(closedWaitMs(clock), closed.reason);
  }
  const { reason, waitMs } = said;
  if (sent !== null) {
    if (said.kind === "unknown" || said.of === "request") return backOffAfter(sent.send, reason);
    const isOfAll = said.code === "unauthorized" || said.code === "rate_limited";
    return isOfAll
      ? businessFault(said.code, reason, waitMs)
      : backOffAfter(sent.send, reason, REFUSED);
  }
  if (waitMs === null || waitMs === 0) return backOff(longerMs, reason);
  const last = lastSend(facts.attempts);
  const mostMs = growingMs(last === undefined ? 0 : leftAgoMs(last, reading), LOOKS);
  const why =
    closed === null
      ? reason
      : `It was sent without an answer, and may not be sent again now (${closed.reason}).`;
  return backOff(Math.min(waitMs, mostMs), why);
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
  return { kind: "refused", reason: refusal(last?.code, last?.message) };
}

function refusal(code: string | null | undefined, message: string | null | undefined): string {
  return `The service refused the deposit (${code ?? ""}).${serviceSays(message)}`;
}
