import { paymentMovedOddly } from "../../src/domain/facts/payments.ts";
import { record } from "../../src/store/facts/record.ts";
import { type Author, nameOfAuthor } from "../../src/contracts/authors.ts";
import type { Transaction } from "kysely";
import { judgeTransition } from "../../src/domain/payments/payment-states.ts";
import type { Unreadable } from "../../src/domain/unreadable.ts";
import {
  keepSeenPayments,
  seenPayments,
  type SeenPayment,
} from "../../src/store/payables/seen-payments.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "../shared/context.ts";

/** Whose payments were read, and which workflow follows them. */
interface Follower {
  readonly businessId: string;
  /** The workflow. */
  readonly actor: Author;
  readonly runId: string;
  readonly nowMs: number;
}

/** A payment as the service has just shown it. */
interface ReadPayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly updatedAt?: string | null | undefined;
  readonly unreadable?: Unreadable;
}

interface ImpossibleMove {
  readonly payment: SeenPayment;
  readonly from: string;
  readonly alarm: string;
}

/**
 * Takes over the state of payments: every read that is not older than what is known, even one that
 * goes backwards, as banks do. An older read is a stale answer, and the known state stands.
 *
 * One that can't be read counts as on its way, and is not kept.
 *
 * A move that should be impossible is taken over too, but people are notified of it, once.
 *
 * @returns the payments as they stand by everything that was ever read of them
 */
export async function takePayments<P extends ReadPayment>(
  { store, log }: ActivityContext,
  follower: Follower,
  read: readonly P[],
): Promise<P[]> {
  const { businessId } = follower;
  const ids = read.map(({ id }) => id);
  const known = await seenPayments(store.db, businessId, ids);
  if (judge(known, read).news.length > 0) {
    const impossible = await store.transactionOf(businessId, async (trx) => {
      // Another follower may have taken some over meanwhile.
      const latest = await seenPayments(trx, businessId, ids);
      const { news, impossible: moves } = judge(latest, read);
      await keepSeenPayments(trx, businessId, news);
      for (const move of moves) await alarm(trx, follower, move);
      for (const [id, seen] of latest) known.set(id, seen);
      for (const seen of news) known.set(seen.id, seen);
      return moves;
    });
    for (const { alarm: text, payment } of impossible) {
      log.warn(text, { businessId, paymentId: payment.id, actor: nameOfAuthor(follower.actor) });
    }
  }
  return read.map((payment) => {
    if (payment.unreadable !== undefined) return payment;
    const { status, updatedAt } = known.get(payment.id) ?? seenOf(payment);
    return status === payment.status ? payment : { ...payment, status, updatedAt };
  });
}

function judge(
  known: ReadonlyMap<string, SeenPayment>,
  read: readonly ReadPayment[],
): { readonly news: readonly SeenPayment[]; readonly impossible: readonly ImpossibleMove[] } {
  const news: SeenPayment[] = [];
  const impossible: ImpossibleMove[] = [];
  for (const each of read) {
    if (each.unreadable !== undefined) continue;
    const payment = seenOf(each);
    const before = known.get(payment.id);
    const { accept, alarm: text } = judgeTransition(before, payment);
    if (!accept) continue;
    news.push(payment);
    if (text !== null && before !== undefined) {
      impossible.push({ payment, from: before.status, alarm: text });
    }
  }
  return { news, impossible };
}

function seenOf({ id, status, amountCents, updatedAt }: ReadPayment): SeenPayment {
  return { id, status, amountCents, updatedAt: updatedAt ?? null };
}

async function alarm(
  trx: Transaction<Tables>,
  { businessId, actor, runId, nowMs }: Follower,
  { payment, from }: ImpossibleMove,
): Promise<void> {
  const { id: subject, status: to, updatedAt } = payment;
  const head = { businessId, nowMs, by: actor, subject };
  await record(trx, paymentMovedOddly(head, { from, to, updatedAt }, { runId }));
}
