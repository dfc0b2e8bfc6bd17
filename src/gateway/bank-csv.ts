import { newYorkDate } from "../domain/clock/new-york.ts";
import type { Payment, PaymentsClient } from "../payments-api/index.ts";
import { getPlanLines, type PlannedLine } from "../store/plans.ts";
import type { Run } from "../store/runs.ts";
import type { GatewayContext } from "./context.ts";
import { cell, csvLine, dollars } from "./csv.ts";
import { GatewayError } from "./http/errors.ts";

/** Up to this many bills are asked for one by one; for more, all payments are read by page. */
const ONE_BY_ONE = 25;

interface BankLine {
  readonly date: string;
  readonly entry: "debit" | "return" | "refund";
  readonly cents: number;
  readonly note: string;
}

const COLUMNS = [
  "date",
  "entry",
  "debit_usd",
  "credit_usd",
  "payment_ids",
  "payable_ids",
  "bills",
  "vendor",
  "description",
  "bank_account_id",
  "source",
  "status",
  "settled_on",
  "note",
] as const;

/**
 * The run's payments as the paying account's statement shows them: one row per debit, and one for
 * money that came back, with the bills that each covers. RFC 4180.
 *
 * The service pays each payment by a debit of its own (a large bill by several), so a row has one
 * payment and one bill; a payment that never reached the bank has none.
 *
 * @throws GatewayError 503 where the service can't be asked
 */
export async function bankCsv(
  context: Pick<GatewayContext, "store" | "profiles" | "clientOf">,
  run: Run,
): Promise<string> {
  const profile = context.profiles.byBusinessId(run.businessId);
  if (profile === undefined) {
    const message = `The business ${run.business} is in no profile any more; its payments can't be read.`;
    throw new GatewayError(503, "business_unknown", message);
  }
  const lines = await getPlanLines(context.store.db, run.runId);
  const sent = lines.filter(({ line }) => line.paymentIds.length > 0);
  const payments = await paymentsOf(context.clientOf(profile), sent);
  const rows = sent.flatMap((planned) =>
    planned.line.paymentIds.flatMap((id) => {
      const payment = payments.get(id);
      return payment === undefined ? [] : rowsOf(planned, payment);
    }),
  );
  rows.sort((a, b) => (a.sort < b.sort ? -1 : a.sort > b.sort ? 1 : 0));
  return csvLine(COLUMNS) + rows.map(({ cells }) => csvLine(cells)).join("");
}

async function paymentsOf(
  client: PaymentsClient,
  lines: readonly PlannedLine[],
): Promise<Map<string, Payment>> {
  const wanted = new Set(lines.flatMap(({ line }) => line.paymentIds));
  const found = new Map<string, Payment>();
  const keep = (payments: readonly Payment[]): void => {
    for (const payment of payments) if (wanted.has(payment.id)) found.set(payment.id, payment);
  };
  try {
    if (lines.length <= ONE_BY_ONE) {
      for (const { line } of lines) {
        keep(await client.payments.listAll({ payableId: line.payableId }));
      }
    } else {
      for await (const page of client.payments.iteratePages({})) keep(page);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GatewayError(503, "service_unreachable", `The payments can't be read: ${why}`);
  }
  return found;
}

function rowsOf(
  { plan, line }: PlannedLine,
  payment: Payment,
): { readonly sort: string; readonly cells: readonly string[] }[] {
  const settledOn = payment.status === "completed" ? dateOf(payment.processedAt) : "";
  return bankLines(payment, line.executionDate).map(({ date, entry, cents, note }) => {
    const isDebit = entry === "debit";
    const cells = [
      date,
      entry,
      isDebit ? dollars(cents) : "",
      isDebit ? "" : dollars(cents),
      cell(payment.id),
      cell(line.payableId),
      cell(plan.publicId ?? ""),
      cell(plan.contactName ?? ""),
      cell(plan.description ?? ""),
      cell(payment.bankAccountId ?? ""),
      cell([plan.funding.name, plan.funding.last4].filter((part) => part !== null).join(" ")),
      cell(payment.status),
      settledOn,
      cell(note),
    ];
    return { sort: `${date} ${payment.id} ${isDebit ? 0 : 1}`, cells };
  });
}

/** What a payment made the bank write into the payer's account. */
function bankLines(payment: Payment, executionDate: string): BankLine[] {
  const { status, amountCents: cents, scheduledAt, updatedAt, failureReason } = payment;
  const debit: BankLine = {
    date: dateOf(scheduledAt) || executionDate,
    entry: "debit",
    cents,
    note: "",
  };
  const back = { date: dateOf(updatedAt) || debit.date, cents };
  const why = failureReason ?? "";
  switch (status) {
    case "completed":
      return [debit];
    case "processing":
      return [{ ...debit, note: "on its way; not settled yet" }];
    case "failed":
    case "returned":
      return [debit, { ...back, entry: "return", note: why }];
    case "refund_pending":
      return [{ ...debit, note: "a refund is on its way" }];
    case "refunded":
      return [debit, { ...back, entry: "refund", note: "may have gone into the balance instead" }];
    default:
      return [];
  }
}

function dateOf(instant: string | null): string {
  if (instant === null) return "";
  if (/^\d{4}-\d{2}-\d{2}$/.test(instant)) return instant;
  const ms = Date.parse(instant);
  return Number.isNaN(ms) ? "" : newYorkDate(ms);
}
