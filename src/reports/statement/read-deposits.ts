import { newYorkDate } from "../../domain/clock/new-york.ts";
import { dayOfInstant } from "../../domain/clock/named-day.ts";
import type { StatementDeposit } from "../../domain/statement/lines.ts";
import { depositStands } from "../../domain/deposits/transactions.ts";
import type { BalanceTransaction, PaymentsClient } from "../../payments-api/index.ts";
import { attemptsOf } from "../../ledger/attempts.ts";
import type { Db } from "../../store/index.ts";
import type { TopUp } from "../../store/deposits/deposits.ts";
import { GatewayError } from "../../actions/errors.ts";

/** A deposit that was made, with the request it belongs to. */
export interface MadeDeposit {
  readonly topUp: TopUp;
  readonly transactionId: string;
  /** The service's status, else Payrun's. */
  readonly status: string;
  readonly deposit: StatementDeposit | null;
}

/**
 * Reads the deposits that these requests have made.
 *
 * @throws GatewayError 503 if the service can't be read
 */
export async function readDeposits(
  db: Db,
  client: PaymentsClient,
  topUps: readonly TopUp[],
): Promise<readonly MadeDeposit[]> {
  const made = topUps.flatMap((topUp) =>
    topUp.transactionId === null ? [] : [{ topUp, transactionId: topUp.transactionId }],
  );
  if (made.length === 0) return [];
  const shown = new Map((await transactions(client)).map((each) => [each.id, each]));
  return Promise.all(
    made.map(async ({ topUp, transactionId }) => {
      const transaction = shown.get(transactionId);
      return {
        topUp,
        transactionId,
        status: transaction?.status ?? topUp.state,
        deposit: await depositOf(db, topUp, transaction),
      };
    }),
  );
}

async function transactions(client: PaymentsClient): Promise<BalanceTransaction[]> {
  try {
    return await client.balance.transactions.listAll();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GatewayError("service_unreachable", `The deposits can't be read: ${why}`);
  }
}

/**
 * Returns a deposit by the service's facts, or by Payrun's if the service has none; null if no
 * money moved.
 */
async function depositOf(
  db: Db,
  topUp: TopUp,
  shown: BalanceTransaction | undefined,
): Promise<StatementDeposit | null> {
  const { amountCents, account, arrivesOn, sinceMs, state } = topUp;
  const sinceOn = newYorkDate(sinceMs);
  const stands = standing(topUp, shown);
  if (stands === "none") return null;
  const isSettled = state === "completed" || state === "returned";
  return {
    stands,
    amountCents: shown?.amountCents ?? amountCents,
    bankAccountId: shown?.bankAccountId ?? account.bankAccountId,
    madeOn: dayOfInstant(shown?.createdAt) ?? (await sentOn(db, topUp)),
    arrivedOn: dayOfInstant(shown?.processedAt) ?? (state === "completed" ? sinceOn : arrivesOn),
    changedOn: dayOfInstant(shown?.updatedAt) ?? sinceOn,
    reason: shown?.failureReason ?? (isSettled || state === "failed" ? (topUp.reason ?? "") : ""),
  };
}

function standing(
  { state }: TopUp,
  shown: BalanceTransaction | undefined,
): StatementDeposit["stands"] | "none" {
  const told = shown === undefined ? "not-shown" : depositStands(shown);
  const hadArrived = state === "completed" || state === "returned";
  if (told === "not-shown") return hadArrived || state === "failed" ? state : "on-its-way";
  if (told !== "failed") return told;
  if (shown?.status === "cancelled") return "none";
  return hadArrived || shown?.status === "returned" ? "returned" : "failed";
}

async function sentOn(db: Db, { businessId, subject }: TopUp): Promise<string> {
  const last = (await attemptsOf(db, businessId, subject)).at(-1);
  const sentAtMs = last?.firstSentAtMs ?? null;
  return sentAtMs === null ? "" : newYorkDate(sentAtMs);
}
