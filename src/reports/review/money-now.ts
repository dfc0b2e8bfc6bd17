import type { ActionContext } from "../../actions/context.ts";
import { availableCents } from "../../business/source-money.ts";
import { whyNoPayment } from "../../domain/funding-source.ts";
import type { PaymentsClient } from "../../payments-api/index.ts";
import { reservedCents } from "../../store/lines/reserved.ts";
import type { Run } from "../../store/runs/runs.ts";

/** What accounts have, and how much of it is promised to other runs; by account. */
export type MoneyNow = ReadonlyMap<
  string,
  { readonly availableCents: number | null; readonly promisedCents: number }
>;

/**
 * The current state of the accounts that a run pays from: a plan says only what they had at
 * planning time.
 */
export interface StandingNow {
  readonly money: MoneyNow;
  /** Why accounts can't pay, for those from which something may still be sent. */
  readonly whyNot: readonly string[];
}

interface Asked {
  readonly sources: readonly string[];
  /** Accounts from which something may still be sent; if there are none, nothing is read. */
  readonly unsentSources: readonly string[];
  /** Today's date in New York. */
  readonly today: string;
  /** Ends the wait for the service. */
  readonly signal: AbortSignal;
}

/** @returns undefined if the service doesn't answer in time */
export async function standingNow(
  { store, profiles, clientOf }: Pick<ActionContext, "store" | "profiles" | "clientOf">,
  { businessId, runId: exceptRunId }: Run,
  { sources, unsentSources, today, signal }: Asked,
): Promise<StandingNow | undefined> {
  const profile = profiles.byBusinessId(businessId);
  if (profile === undefined || unsentSources.length === 0) return undefined;
  const readAtMs = Date.now();
  const read = await readSources(clientOf(profile), { sources, unsentSources, signal });
  if (read === undefined) return undefined;
  const money = read.available.map(async ([sourceId, cents]) => {
    const others = { businessId, sourceId, exceptRunId, today, readAtMs };
    const promisedCents = await reservedCents(store.db, others);
    return [sourceId, { availableCents: cents, promisedCents }] as const;
  });
  return { money: new Map(await Promise.all(money)), whyNot: read.whyNot };
}

async function readSources(
  client: PaymentsClient,
  { sources, unsentSources, signal }: Omit<Asked, "today">,
) {
  const options = { signal };
  try {
    const listed = await client.fundingSources.list(options);
    const byId = new Map(listed.map((source) => [source.id, source]));
    const available = sources.map(
      async (id) => [id, await availableCents(client, byId.get(id), options)] as const,
    );
    return {
      available: await Promise.all(available),
      whyNot: unsentSources.flatMap((id) => whyNoPayment(id, byId.get(id)) ?? []),
    };
  } catch {
    return undefined;
  }
}
