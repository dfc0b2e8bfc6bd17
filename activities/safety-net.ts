import { nextBankingDay } from "../src/domain/clock/bank-calendar.ts";
import { newYorkDate } from "../src/domain/clock/new-york.ts";
import { formatUsd } from "../src/domain/money.ts";
import { overpaidCents } from "../src/domain/payments/owed.ts";
import { type Payment, PaymentsApiError } from "../src/payments-api/index.ts";
import { appendAudit } from "../src/store/audit.ts";
import { activeHolds, createHold, type HoldScopeName } from "../src/store/holds.ts";
import { changeLine, planLineOf, type RunLine } from "../src/store/lines.ts";
import type { Run } from "../src/store/runs.ts";
import type { ClockReading } from "../src/business/clock.ts";
import type { ActivityContext } from "./context.ts";

const AUTHOR = "payrun";

/**
 * Looks again at what the service already has scheduled, which a hold doesn't stop: a payee whose
 * record changed since the approval, and a bill with more money on its way than its total.
 *
 * Either is an alarm for a person: a hold keeps everything that is not sent yet from following,
 * and the line says what to do before 9:00 New York on its date.
 */
export async function watchScheduled(
  context: ActivityContext,
  run: Run,
  lines: readonly RunLine[],
  paymentsOf: ReadonlyMap<string, readonly Payment[]>,
  clock: ClockReading,
): Promise<void> {
  const scheduled = lines.filter((line) => line.state === "scheduled" || line.state === "held");
  const cutOffSoon = nextBankingDay(newYorkDate(clock.businessMs));
  const payees = new Map<string, Awaited<ReturnType<typeof readPayee>>>();
  for (const line of scheduled) {
    const plan = await planLineOf(context.store.db, line);
    const payments = paymentsOf.get(line.payableId) ?? [];
    const tooMuch = overpaidCents({ totalCents: plan.totalCents, payments });
    if (tooMuch > 0) {
      await alarm(context, run, line, clock, {
        scope: "payable",
        value: line.payableId,
        code: "more-than-owed",
        text: `Payments on their way exceed the bill by ${formatUsd(tooMuch)}. Cancel what is too much before 9:00 New York on ${line.executionDate}.`,
      });
      continue;
    }
    // An event may tell of the payee's change, and is read again before the cut-off in any case.
    if (!line.look && line.executionDate > cutOffSoon) continue;
    const payee =
      payees.get(plan.contactId) ?? (await readPayee(context, run.business, plan.contactId));
    payees.set(plan.contactId, payee);
    if (payee.last4 !== plan.bankLast4) {
      await alarm(context, run, line, clock, {
        scope: "contact",
        value: plan.contactId,
        code: "payee-changed-after-approval",
        text: `The vendor's bank account changed from ••${plan.bankLast4 ?? "none"} to ••${payee.last4 ?? "none"} after the approval. Ask the vendor by phone; if it is wrong, cancel the payment before 9:00 New York on ${line.executionDate}.`,
      });
    }
  }
}

async function readPayee(
  context: ActivityContext,
  business: string,
  contactId: string,
): Promise<{ readonly last4: string | null }> {
  try {
    const contact = await context.clientOf(business).contacts.get(contactId);
    return { last4: contact.bankAccount?.last4 ?? null };
  } catch (error) {
    // One vendor that is gone must not keep the run from following everything else.
    if (error instanceof PaymentsApiError && error.status === 404) return { last4: null };
    throw error;
  }
}

interface Alarm {
  readonly scope: HoldScopeName;
  readonly value: string;
  readonly code: string;
  readonly text: string;
}

async function alarm(
  context: ActivityContext,
  run: Run,
  line: RunLine,
  clock: ClockReading,
  what: Alarm,
): Promise<void> {
  if (line.reasonCode === what.code) return;
  context.log.warn(what.text, { runId: run.runId, payableId: line.payableId });
  await context.store.transactionOf(run.businessId, async (trx) => {
    await changeLine(trx, line, { reasonCode: what.code, reason: what.text }, clock.realMs);
    const holds = await activeHolds(trx, run.businessId, clock.businessMs);
    const held = holds.some(
      (hold) => hold.author === AUTHOR && hold.scope === what.scope && hold.value === what.value,
    );
    if (!held) {
      await createHold(trx, {
        businessId: run.businessId,
        scope: what.scope,
        value: what.value,
        reason: what.text,
        author: AUTHOR,
        untilMs: null,
        nowMs: clock.realMs,
      });
    }
    await appendAudit(trx, {
      businessId: run.businessId,
      nowMs: clock.realMs,
      actor: run.runId,
      action: `alarm:${what.code}`,
      subject: line.payableId,
      details: { text: what.text },
    });
  });
}
