import {
  type CalendarSpec,
  type Client,
  type ScheduleDescription,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
} from "@temporalio/client";
import { type Payload, TypedSearchAttributes } from "@temporalio/common";
import { DAY_MS } from "../contracts/durations.ts";
import type { ScheduledPayRunInput } from "../contracts/activities.ts";
import { TASK_QUEUE } from "../contracts/names.ts";
import { scheduledPayRunId, WORKFLOW } from "../contracts/workflow-kinds.ts";
import { isUnreadable, keyIdOf } from "./codec.ts";
import { searchAttributes } from "../contracts/search-attributes.ts";
import { GRPC, grpcCode } from "./grpc.ts";
import { isInStep, type LauncherOptions } from "./schedule-drift.ts";
import { updateSchedule } from "./schedule-update.ts";
import { undecoded } from "./undecoded.ts";
import { whileBusy } from "./while-busy.ts";

/** Temporal accepts no shorter one; the launcher itself leaves out what comes too late. */
const SHORTEST_CATCH_UP_MS = 10_000;
/** A server that doesn't respond must not hold up a pass forever. */
const LIST_MS = 20_000;

/** A playbook's schedule as Temporal keeps it: days and times on which its launcher is woken. */
export interface LauncherSchedule extends ScheduledPayRunInput {
  readonly weekdays: readonly string[] | null;
  readonly daysOfMonth: readonly number[] | null;
  /** `HH:MM` in `zone`. */
  readonly times: readonly string[];
  readonly zone: string;
  readonly catchUpDays: number;
}

export interface ScheduleState {
  readonly paused: boolean;
  readonly note: string | null;
  /** False if Temporal keeps a schedule other than the one that the playbook asks for. */
  readonly inStep: boolean;
}

/**
 * Makes a playbook's schedule, or changes the existing one; a pause stays.
 *
 * @param pause the note with which a new one begins paused
 */
export async function putSchedule(
  client: Client,
  wanted: LauncherSchedule,
  pause: string | null = null,
): Promise<void> {
  const options = optionsOf(wanted);
  const paused = pause === null ? {} : { state: { paused: true, note: pause } };
  try {
    await client.schedule.create({ ...options, ...paused });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await updateSchedule(client, options);
  }
}

/** Names a playbook's schedule. */
export interface ScheduleKey {
  readonly business: string;
  readonly playbook: string;
}

/**
 * Reads the playbooks of a business that have a schedule, and whether it is paused. A schedule that
 * was made, lost or changed a moment ago may be missing.
 */
export async function listSchedules(
  client: Client,
  business: string,
): Promise<Map<string, { paused: boolean }>> {
  const prefix = scheduledPayRunId(business, "");
  const playbooks = new Map<string, { paused: boolean }>();
  await client.withDeadline(Date.now() + LIST_MS, async () => {
    for await (const { scheduleId, state } of undecoded(client.schedule).list()) {
      if (!scheduleId.startsWith(prefix)) continue;
      playbooks.set(scheduleId.slice(prefix.length), { paused: state.paused });
    }
  });
  return playbooks;
}

/** Wakes a schedule's launcher for every time at which it should have been woken. */
export async function backfillSchedule(
  client: Client,
  of: ScheduleKey,
  span: { readonly fromMs: number; readonly toMs: number },
): Promise<void> {
  const [start, end] = [new Date(span.fromMs), new Date(span.toMs)];
  const schedule = client.schedule.getHandle(idOf(of));
  await schedule.backfill({ start, end, overlap: "ALLOW_ALL" });
}

/** @returns false if there was none */
export function deleteSchedule(client: Client, of: ScheduleKey): Promise<boolean> {
  return whereThereIs(() => client.schedule.getHandle(idOf(of)).delete());
}

/** @returns false if there is none */
export function pauseSchedule(client: Client, of: ScheduleKey, note: string): Promise<boolean> {
  return whereThereIs(() => client.schedule.getHandle(idOf(of)).pause(note));
}

/** @returns false if there is none */
export function resumeSchedule(client: Client, of: ScheduleKey, note: string): Promise<boolean> {
  return whereThereIs(() => client.schedule.getHandle(idOf(of)).unpause(note));
}

/** Reads how Temporal keeps a playbook's schedule; undefined if it keeps none. */
export async function readSchedule(
  client: Client,
  of: ScheduleKey,
  wanted: LauncherSchedule | null,
): Promise<ScheduleState | undefined> {
  let description: ScheduleDescription;
  try {
    description = await whileBusy(() => client.schedule.getHandle(idOf(of)).describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    if (isUnreadable(error)) return readUnread(client, of);
    throw error;
  }
  const { paused, note } = description.state;
  return {
    paused,
    note: note === undefined || note === "" ? null : note,
    inStep: wanted !== null && isInStep(description, optionsOf(wanted)),
  };
}

/** Reads the same of a schedule whose input can't be decoded: a pause is never encrypted. */
async function readUnread(client: Client, of: ScheduleKey): Promise<ScheduleState | undefined> {
  const kept = await encrypted(client, of);
  if (kept === undefined) return undefined;
  const { paused, notes } = kept.state ?? {};
  return { paused: paused === true, note: notes || null, inStep: false };
}

/**
 * Returns whether Temporal keeps a schedule's input under the key that this process encrypts with.
 * Decrypts nothing: the key that the input is under may be gone.
 *
 * @returns undefined if there is none
 */
export async function isUnderNewestKey(
  client: Client,
  of: ScheduleKey,
): Promise<boolean | undefined> {
  const schedule = await encrypted(client, of);
  if (schedule === undefined) return undefined;
  const kept = schedule.action?.startWorkflow?.input?.payloads ?? [];
  let ours: Payload[] = [{ data: new Uint8Array() }];
  for (const codec of client.options.loadedDataConverter.payloadCodecs) {
    ours = await codec.encode(ours);
  }
  return ours.every((payload) => kept.every((input) => keyIdOf(input) === keyIdOf(payload)));
}

/** Reads a schedule as Temporal keeps it; undefined if it keeps none. */
async function encrypted(client: Client, of: ScheduleKey) {
  const request = { namespace: client.options.namespace, scheduleId: idOf(of) };
  try {
    const ask = () => client.workflowService.describeSchedule(request);
    return (await whileBusy(ask)).schedule ?? undefined;
  } catch (error) {
    if (grpcCode(error) === GRPC.notFound) return undefined;
    throw error;
  }
}

function idOf({ business, playbook }: ScheduleKey): string {
  return scheduledPayRunId(business, playbook);
}

async function whereThereIs(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/** Returns the launcher's input. It carries the whole wish, for people who look at its history. */
function inputOf(wanted: LauncherSchedule): LauncherSchedule {
  const { business, playbook, weekdays, daysOfMonth, times, zone, catchUpDays } = wanted;
  return { business, playbook, weekdays, daysOfMonth, times, zone, catchUpDays };
}

function optionsOf(wanted: LauncherSchedule): LauncherOptions {
  const { playbook, business, zone, catchUpDays } = wanted;
  const id = idOf(wanted);
  return {
    scheduleId: id,
    spec: { calendars: wanted.times.map((time) => calendarOf(wanted, time)), timezone: zone },
    action: {
      type: "startWorkflow",
      workflowType: WORKFLOW.scheduledPayRun,
      workflowId: id,
      taskQueue: TASK_QUEUE,
      args: [inputOf(wanted)],
      typedSearchAttributes: new TypedSearchAttributes(searchAttributes({ business, playbook })),
      staticSummary: `Launches ${playbook} for ${business}, if a run begins today`,
    },
    policies: {
      // Launchers take seconds and launch once a period: one that hangs must not hide the next.
      overlap: "ALLOW_ALL",
      catchupWindow: Math.max(SHORTEST_CATCH_UP_MS, catchUpDays * DAY_MS),
    },
  };
}

function calendarOf({ weekdays, daysOfMonth }: LauncherSchedule, time: string): CalendarSpec {
  const [hour, minute] = time.split(":").map(Number);
  return {
    hour: hour ?? 0,
    minute: minute ?? 0,
    ...(weekdays === null
      ? {}
      : { dayOfWeek: weekdays.map((day) => day.toUpperCase() as "MONDAY") }),
    ...(daysOfMonth === null ? {} : { dayOfMonth: [...daysOfMonth] }),
  };
}
