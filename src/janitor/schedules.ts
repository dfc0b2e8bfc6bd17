import { scheduleRestored } from "../domain/facts/playbooks.ts";
import { record } from "../store/facts/record.ts";
import type { Client } from "@temporalio/client";
import { DAY_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { launcherOf } from "../domain/clock/schedule-triggers.ts";
import { getPlaybook, listPlaybooks, type StoredPlaybook } from "../store/playbooks/playbooks.ts";
import { withSchedule } from "../store/playbooks/schedule-turns.ts";
import { noteOutsideAct } from "../store/facts/schedule-changes.ts";
import { type ScheduleWish, scheduleWish } from "../store/playbooks/schedule-wishes.ts";
import {
  backfillSchedule,
  deleteSchedule,
  isUnderNewestKey,
  listSchedules,
  putSchedule,
  readSchedule,
} from "../temporal/schedules.ts";
import { isUnreadable } from "../temporal/codec.ts";
import { PAYRUN } from "../contracts/authors.ts";
import type { JanitorContext } from "./context.ts";

/** A gateway that has just stored a playbook makes its schedule itself. */
const APPLYING_MS = 15_000;

/** The janitor comes again, so it waits for no other process. */
const NO_WAIT_MS = 0;

/**
 * Compares the schedules that Temporal keeps with what people want of them.
 *
 * Schedules that Temporal has lost are made again, as people left them: paused ones stay paused,
 * deleted ones deleted. Without this nothing would fail, and nothing would ever run again. Runs
 * that should have begun meanwhile are launched within the playbook's `catchUp`; a launcher
 * launches each period once.
 *
 * A pause or resumption at Temporal itself is recorded as what people want. Other changes there are
 * undone. Operators hear of each.
 */
export async function compareSchedules(
  context: JanitorContext,
  profile: BusinessProfile,
): Promise<void> {
  const { store, temporal } = context;
  const scheduled = (await listPlaybooks(store.db, profile.name)).filter(
    ({ compiled }) => compiled.schedule !== null,
  );
  if (scheduled.length === 0) return;
  const there = await listSchedules(temporal, profile.name);
  const failures: unknown[] = [];
  for (const playbook of scheduled) {
    if (Date.now() - playbook.createdAtMs < APPLYING_MS) continue;
    const isThere = there.has(playbook.name);
    await compare(context, profile, playbook, isThere).catch((error) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Compares the schedule of one playbook, which Temporal has listed or not. */
async function compare(
  context: JanitorContext,
  profile: BusinessProfile,
  playbook: StoredPlaybook,
  isThere: boolean,
): Promise<void> {
  const { db } = context.store;
  if (isThere) await rewriteOnce(context, profile, playbook);
  const { businessId } = profile;
  const wish = await scheduleWish(db, { businessId, playbook: playbook.name });
  if (isThere ? await isAsWanted(context, playbook, wish) : wish.deleted) return;
  const of = { business: profile.name, playbook: playbook.name };
  await withSchedule(db, of, NO_WAIT_MS, () => settle(context, profile, playbook.name));
}

/** True if Temporal has a schedule as people and its playbook want it. */
async function isAsWanted(
  { temporal }: JanitorContext,
  { business, name: playbook, compiled: { schedule } }: StoredPlaybook,
  { deleted, pause }: ScheduleWish,
): Promise<boolean> {
  if (deleted || schedule === null) return false;
  const of = { business, playbook };
  const kept = await readSchedule(temporal, of, launcherOf({ ...of, schedule }, Date.now()));
  return kept !== undefined && kept.inStep && kept.paused === (pause !== null);
}

/**
 * Schedules that this process has looked at: a process's keys stay the same as long as it lives.
 */
const rewritten = new WeakMap<Client, Set<string>>();

/**
 * Writes a schedule under the newest key at the first look of each process, even if the old key is
 * gone already, so that its launchers can be read. A schedule lives longer than a key.
 */
async function rewriteOnce(
  context: JanitorContext,
  profile: BusinessProfile,
  playbook: StoredPlaybook,
): Promise<void> {
  const { store, temporal } = context;
  const of = { business: profile.name, playbook: playbook.name };
  const done = rewritten.get(temporal) ?? new Set<string>();
  rewritten.set(temporal, done);
  const name = `${of.business}/${of.playbook}`;
  if (done.has(name)) return;
  await withSchedule(store.db, of, NO_WAIT_MS, async () => {
    if ((await isUnderNewestKey(temporal, of)) === false) {
      await rewrite(context, profile, playbook);
      context.log.info("a schedule was written under the newest key", of);
    }
    done.add(name);
    return {};
  });
}

async function rewrite(
  context: JanitorContext,
  profile: BusinessProfile,
  playbook: StoredPlaybook,
): Promise<void> {
  const { schedule } = playbook.compiled;
  if (schedule === null) return;
  const { temporal } = context;
  const of = { business: profile.name, playbook: playbook.name };
  try {
    await putSchedule(temporal, launcherOf({ ...of, schedule }, Date.now()));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // A schedule that can't be read can't be changed, and has launched nothing. The store knows all
    // of it, once it knows whether a person has paused it there.
    const kept = await readSchedule(temporal, of, null);
    if (kept !== undefined) await noteOutside(context, profile, playbook, kept);
    await deleteSchedule(temporal, of);
    await restore(context, profile, playbook);
  }
}

/**
 * Settles one schedule. Lists lag behind, and the playbook may have been applied meanwhile, so both
 * are read again before anything is done.
 */
async function settle(
  context: JanitorContext,
  profile: BusinessProfile,
  name: string,
): Promise<object> {
  const { store, temporal } = context;
  const { businessId, name: business } = profile;
  const of = { business, playbook: name };
  const playbook = await getPlaybook(store.db, { business, name });
  const schedule = playbook?.compiled.schedule ?? null;
  if (playbook === undefined || schedule === null) return {};
  const wanted = launcherOf({ ...of, schedule }, Date.now());
  const kept = await readSchedule(temporal, of, wanted);
  const { deleted } = await scheduleWish(store.db, { businessId, playbook: name });
  if (deleted) {
    if (kept === undefined) return {};
    await deleteSchedule(temporal, of);
    await say(context, profile, name, "made");
  } else if (kept === undefined) {
    await restore(context, profile, playbook);
    await say(context, profile, name, "lost");
  } else {
    await noteOutside(context, profile, playbook, kept);
    if (kept.inStep) return {};
    await rewrite(context, profile, playbook);
    await say(context, profile, name, "changed");
  }
  return {};
}

/** Adds to the trail that a schedule is as it should be again, and notifies operators. */
async function say(
  { store, log }: JanitorContext,
  { businessId, name: business }: BusinessProfile,
  playbook: string,
  change: "lost" | "changed" | "made",
): Promise<void> {
  await store.transactionOf(businessId, async (trx) => {
    const { pause } = await scheduleWish(trx, { businessId, playbook });
    const head = { businessId, nowMs: Date.now(), by: PAYRUN, subject: playbook };
    await record(trx, scheduleRestored(head, { change, paused: pause !== null }));
  });
  log.warn("a schedule was not as it should be, and is again", { playbook, business, change });
}

async function noteOutside(
  { store, log }: JanitorContext,
  { businessId, name: business }: BusinessProfile,
  { name: playbook }: StoredPlaybook,
  kept: { readonly paused: boolean; readonly note: string | null },
): Promise<"paused" | "resumed" | null> {
  const noted = await store.transactionOf(businessId, (trx) =>
    noteOutsideAct(trx, { businessId, playbook }, kept, Date.now()),
  );
  if (noted !== null) log.info(`a schedule was ${noted} at Temporal`, { playbook, business });
  return noted;
}

async function restore(
  context: JanitorContext,
  profile: BusinessProfile,
  { name: playbook, compiled: { schedule }, createdAtMs }: StoredPlaybook,
): Promise<void> {
  const { store, temporal } = context;
  const { businessId, name: business, sandbox } = profile;
  if (schedule === null) return;
  const wish = await scheduleWish(store.db, { businessId, playbook });
  const { deleted, pause } = wish;
  if (deleted) return;
  const nowMs = Date.now();
  await putSchedule(temporal, launcherOf({ playbook, business, schedule }, nowMs), pause);
  if (pause === null && !sandbox) {
    // Times that passed while people had paused or deleted it were not missed.
    const aliveSinceMs = Math.max(createdAtMs, wish.madeAgainMs ?? 0, wish.resumedMs ?? 0);
    const fromMs = Math.max(aliveSinceMs, nowMs - schedule.catchUpDays * DAY_MS);
    await backfillSchedule(temporal, { business, playbook }, { fromMs, toMs: nowMs });
  }
}
