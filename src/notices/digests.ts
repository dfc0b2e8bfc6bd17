import { digestMade } from "../domain/facts/runs.ts";
import { record } from "../store/facts/record.ts";
import { DAY_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { newYorkDate } from "../domain/clock/new-york.ts";
import { digestDate, type DigestedRun, type DigestRhythm } from "../domain/notices/digest.ts";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import type { Store } from "../store/index.ts";
import { recordedEnd } from "../store/audit/audit.ts";
import { shownSumsOf } from "../store/lines/shown-sums.ts";
import { isNotified } from "../store/notices/notices.ts";
import { listPlaybooks } from "../store/playbooks/playbooks.ts";
import { runsLately } from "../store/runs/runs-lately.ts";

const INTERVAL_MS = 60_000;

/** The most runs that one digest covers. */
const RUNS_MOST = 30;

export interface DigestContext {
  readonly store: Store;
  readonly profiles: { all(): readonly BusinessProfile[] };
  readonly clocks: { read(profile: BusinessProfile): Promise<{ readonly businessMs: number }> };
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Real time. */
  readonly nowMs: () => number;
}

/** Raises, each minute, the digests that are due; of several processes, the first one does. */
export function startDigests(context: DigestContext): Repeated {
  const empty = new Set<string>();
  return repeat(
    async () => {
      await raiseDigests(context, empty);
      return INTERVAL_MS;
    },
    (error) => {
      const reason = reasonOf(error);
      context.log.warn("digests could not be made; trying again in a minute", { reason });
      return INTERVAL_MS;
    },
  );
}

/**
 * Raises the digest of every playbook that asks for one, once for its day or week.
 *
 * @param empty digests that had nothing to report when they were due, here and at earlier calls: a
 * run that begins later waits for the next one, instead of raising it in the middle of a night
 */
export async function raiseDigests(context: DigestContext, empty: Set<string>): Promise<void> {
  for (const profile of context.profiles.all()) {
    for (const { compiled } of await listPlaybooks(context.store.db, profile.name)) {
      if (compiled.kind !== "pay-run") continue;
      const rhythm = compiled.notify.digest;
      if (rhythm === "none") continue;
      const { name } = compiled;
      try {
        await raiseDigest(context, profile, { playbook: name, rhythm, empty });
      } catch (error) {
        // One business whose service can't be reached keeps no other from its digest.
        const fields = { playbook: name, reason: reasonOf(error) };
        context.log.warn("a digest could not be made; trying again in a minute", fields);
      }
    }
  }
}

async function raiseDigest(
  { store, clocks, nowMs }: DigestContext,
  profile: BusinessProfile,
  of: {
    readonly playbook: string;
    readonly rhythm: DigestRhythm;
    readonly empty: Set<string>;
  },
): Promise<void> {
  const { businessId } = profile;
  const { playbook, rhythm, empty } = of;
  const { businessMs } = await clocks.read(profile);
  const date = digestDate(rhythm, businessMs);
  const fact = { businessId, kind: "digest" as const, factKey: `${playbook}/${date}` };
  const id = `${businessId}/${fact.factKey}`;
  if (empty.has(id) || (await isNotified(store.db, fact))) return;
  // A weekend lies between Friday's digest and Monday's.
  const sinceMs = nowMs() - (rhythm === "daily" ? 4 : 8) * DAY_MS;
  const runs: DigestedRun[] = [];
  for (const run of await runsLately(store.db, { businessId, playbook }, sinceMs, RUNS_MOST)) {
    runs.push({ ...run, sums: await shownSumsOf(store.db, run.runId) });
  }
  if (runs.length === 0) {
    empty.add(id);
    return;
  }
  const end = await recordedEnd(store.db, businessId);
  // It says how runs stand now, even if it comes later than its time.
  const day = newYorkDate(businessMs);
  const made = digestMade({ businessId, nowMs: nowMs() }, { playbook, date, day, runs, end });
  await record(store.db, made);
}
