import { requestSending } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import { hash } from "node:crypto";
import type { Transaction } from "kysely";
import type { Tables } from "../store/schema/tables.ts";
import type { OpenedSend } from "./write.ts";

/** The fields of a payment that the audit trail keeps. */
interface NotedPayment {
  readonly id: string;
  readonly amountCents: number;
  readonly status: string;
}

export function notedPayment({ id, amountCents, status }: NotedPayment): NotedPayment {
  return { id, amountCents, status };
}

/**
 * Records in the audit trail which requests are about to leave. Neighboring lines of a plan share
 * an entry.
 */
export async function noteSending(
  trx: Transaction<Tables>,
  caller: {
    readonly businessId: string;
    readonly owner: string;
    readonly clock: { readonly realMs: number };
  },
  sends: readonly OpenedSend[],
  lines: ReadonlyMap<string, { readonly runId: string; readonly lineNo: number } | undefined>,
): Promise<void> {
  const { businessId, owner } = caller;
  const head = { businessId, nowMs: caller.clock.realMs, by: owner };
  const alike = Map.groupBy(sends, ({ operation, seq, sendNo, subject }) =>
    JSON.stringify([operation, seq, sendNo, lines.get(subject)?.runId ?? null]),
  );
  for (const group of alike.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { operation, seq, sendNo } = first;
    const same = { operation, seq, send: sendNo };
    const runId = lines.get(first.subject)?.runId;
    if (runId === undefined) {
      for (const send of group) {
        const sending = { ...same, ...ofSend(send) };
        await record(trx, requestSending({ ...head, subject: send.subject }, sending));
      }
      continue;
    }
    const of = group.map((send) => ({
      payableId: send.subject,
      lineNo: lines.get(send.subject)?.lineNo ?? 0,
      details: ofSend(send),
    }));
    await record(trx, requestSending.ofLines(head, same, { runId, lines: of }));
  }
}

function ofSend({ attemptId, idempotencyKey, terms }: OpenedSend) {
  const bodyHash = hash("sha256", terms.body);
  return { attemptId, key: idempotencyKey, bodyHash, amountCents: terms.amountCents };
}
