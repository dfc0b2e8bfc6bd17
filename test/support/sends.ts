import type { Terms } from "../../src/ledger/facts.ts";
import { recordResults, type SendOutcome } from "../../src/ledger/results.ts";
import { insertSends, type NewSend, type OpenedSend } from "../../src/ledger/write.ts";
import { databaseNowMs } from "../../src/store/sql/database-clock.ts";
import type { Store } from "../../src/store/index.ts";

type Sent = Pick<NewSend, "businessId" | "subject"> & {
  readonly owner: string;
  /** Milliseconds since the gate let it through. */
  readonly agoMs?: number;
  /** Number of its key; the first by default. */
  readonly seq?: number;
  readonly terms?: Terms;
  /** A payment by default. */
  readonly operation?: NewSend["operation"];
};

type Heard = Partial<Omit<SendOutcome, "send">>;

function termsOf(owner: string): Terms {
  return {
    ...{
      path: "/v1/payments",
      body: "{}",
      owner,
      runId: owner,
      approvedHash: "",
      contactId: "con_1",
    },
    ...{ sourceId: "balance", rail: "SERVICE", amountCents: 10_000, executionDate: "2026-11-25" },
  };
}

/**
 * Writes a request to pay $100.00 as the gate does, with its result; null if there is no result
 * yet.
 */
export async function sendOnce(
  store: Store,
  { businessId, subject, owner, agoMs = 0, seq = 1, ...sent }: Sent,
  heard: Heard | null = { result: "unknown", status: 500 },
): Promise<OpenedSend> {
  const { terms = termsOf(owner), operation = "pay" } = sent;
  return store.transactionOf(businessId, async (trx) => {
    const openedAtMs = (await databaseNowMs(trx)) - agoMs;
    const [send] = await insertSends(trx, [
      {
        ...{ businessId, subject, operation, seq, attemptId: undefined, sendNo: 1 },
        terms,
        ...{ baseline: [], sentBy: "worker-1", openedAtMs, openedServiceMs: openedAtMs },
        leaveByMs: openedAtMs + 15_000,
      },
    ]);
    if (send === undefined) throw new Error("nothing was written");
    if (heard === null) return send;
    const nothing = { status: null, code: null, message: null, answerDateMs: null, madeIds: [] };
    await recordResults(trx, businessId, [{ send, result: "unknown", ...nothing, ...heard }]);
    return send;
  });
}
