import { sourceRemoved } from "../domain/facts/businesses.ts";
import { wakeUp, wakeWorkflow } from "../domain/facts/fact.ts";
import { record } from "../store/facts/record.ts";
import { unlessRefused } from "../business/source-money.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import type { LastingTrouble } from "../process/lasting-trouble.ts";
import {
  type AccountLook,
  forgetAccountLook,
  noteAccountLook,
  postponeAccountLooks,
} from "../store/events/account-looks.ts";
import { unfundSource, usesOfSource } from "../store/lines/funding-lines.ts";
import type { ActionContext } from "../actions/context.ts";

type Looking = Pick<ActionContext, "store" | "profiles" | "clientOf" | "nowMs">;

/** What the service shows of the business's own accounts. */
interface Shown {
  /** States by account id. */
  readonly accounts: ReadonlyMap<string, string>;
  /** False if an account that is not among them may be there all the same. */
  readonly isWhole: boolean;
}

/**
 * Looks at the bank accounts of one business that events were about, with one reading for all of
 * them. The events prove nothing: only an account that the service shows as removed, or doesn't
 * show any more although a run pays from it, loses its reservations, and operators are notified of
 * it once. The runs that pay from an account look at it themselves.
 */
export async function lookAtAccounts(
  context: Looking,
  trouble: LastingTrouble,
  businessId: string,
  looks: readonly AccountLook[],
): Promise<void> {
  const repeating = { businessId, step: "Reading bank accounts that events of the service name" };
  try {
    const profile = context.profiles.byBusinessId(businessId);
    if (profile === undefined) throw new Error("no profile has its business");
    const shown = await readAccounts(context.clientOf(profile));
    for (const look of looks) await takeLook(context, look, shown);
    trouble.over(repeating);
  } catch (error) {
    await trouble.failed(repeating, error);
    await postponeAccountLooks(context.store.db, looks, context.nowMs());
  }
}

async function readAccounts(client: PaymentsClient): Promise<Shown> {
  const accounts = await unlessRefused(client.bankAccounts.list());
  const sources = await client.fundingSources.list();
  const all = [...sources.map((source) => ({ ...source, status: "listed" })), ...(accounts ?? [])];
  const named = all.filter(
    ({ unreadable = {} }) => !("id" in unreadable || "record" in unreadable),
  );
  return {
    accounts: new Map(named.map(({ id, status }) => [id, status])),
    isWhole: named.length === all.length,
  };
}

async function takeLook(
  { store, nowMs: clock }: Looking,
  look: AccountLook,
  { accounts, isWhole }: Shown,
): Promise<void> {
  const { businessId, accountId } = look;
  const nowMs = Math.ceil(clock());
  await store.transactionOf(businessId, async (trx) => {
    const at = { businessId, sourceId: accountId, nowMs };
    const uses = await usesOfSource(trx, at);
    const status = accounts.get(accountId);
    // An account that nobody knows: an event alone makes nothing of it.
    if (status === undefined && uses.length === 0) return forgetAccountLook(trx, look);
    const isRemoved = status === "removed" || (status === undefined && isWhole);
    const isNews = await noteAccountLook(trx, look, isRemoved);
    if (isRemoved) await unfundSource(trx, at);
    if (isNews) {
      const shown = { sourceId: accountId, asked: look.asked, uses, isShown: status !== undefined };
      await record(trx, sourceRemoved({ businessId, nowMs }, shown));
    }
    const runIds = new Set(uses.map(({ runId }) => runId));
    await record(trx, wakeUp(businessId, ...[...runIds].map(wakeWorkflow)));
  });
}
