import type { ActionContext } from "../../actions/context.ts";
import { availableCents } from "../../business/source-money.ts";
import { whyNoPayment } from "../../domain/funding-source.ts";
import type { PaymentsClient } from "../../payments-api/index.ts";
import { reservedCents } from "../../store/lines/reserved.ts";
import type { Run } from "../../store/runs/runs.ts";

/** What accounts have, and what of it is promised to other runs; by account. */
export type MoneyNow = ReadonlyMap<
  string,
  { readonly availableCents: number | null; readonly promisedCents: number }
>;

/** How the accounts that a run pays from stand: a plan says only how they stood when it was made. */
export interface StandingNow {
  readonly money: MoneyNow;
  /** Why accounts can't pay that something may still be sent from. */
  readonly whyNot: readonly string[];
}

interface Asked {
  readonly sources: readonly string[];
  /** Those of which something may still be sent; where there is none, nobody is asked. */
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
