import type { Client, ScheduleDescription } from "@temporalio/client";
import { definedOnly } from "../contracts/defined-only.ts";
import { GRPC, grpcCode } from "./grpc.ts";
import { isInStep, type LauncherOptions } from "./schedule-drift.ts";
import { whileBusy } from "./while-busy.ts";

type ScheduleClient = Client["schedule"];
type UpdateRequest = Parameters<ScheduleClient["workflowService"]["updateSchedule"]>[0];

/** A change that meets ours as often as this is not a person's. */
const TRIES = 5;

/**
 * Brings a schedule at Temporal in step, and leaves a pause as it stands, even one that is made
 * between our read and our write. The SDK writes the whole schedule, whatever happened since it was
 * read; with the token of what was read, a server refuses such a write, and it is tried again.
 *
 * @throws Error if the schedule is changed again and again
 */
export async function updateSchedule(client: Client, options: LauncherOptions): Promise<void> {
  const { scheduleId, spec, action, policies } = options;
  for (let tries = 0; tries < TRIES; tries += 1) {
    let token: Uint8Array | null | undefined;
    const handle = tokened(client.schedule, () => token).getHandle(scheduleId);
    const update = whileBusy(() =>
      handle.update(({ raw, state: { paused, note } }) => {
        token = raw.conflictToken;
        return { spec, action, policies, state: { paused, ...definedOnly({ note }) } };
      }),
    );
    await update.catch((error: unknown) => {
      if (grpcCode(error) !== GRPC.failedPrecondition) throw error;
    });
    // Some servers drop such a change without an error.
    if (isInStep(await describe(client, scheduleId), options)) return;
  }
  throw new Error(`the schedule ${scheduleId} is being changed at Temporal again and again`);
}

function describe(client: Client, scheduleId: string): Promise<ScheduleDescription> {
  return whileBusy(() => client.schedule.getHandle(scheduleId).describe());
}

/** Returns the same client, whose updates carry a token. */
function tokened(
  schedule: ScheduleClient,
  token: () => Uint8Array | null | undefined,
): ScheduleClient {
  const service = schedule.workflowService;
  const update = (request: UpdateRequest): Promise<object> => {
    const conflictToken = token();
    return service.updateSchedule({
      ...request,
      ...definedOnly({ conflictToken }),
    });
  };
  const carrying: unknown = Object.create(service, { updateSchedule: { value: update } });
  return Object.create(schedule, { workflowService: { value: carrying } }) as ScheduleClient;
}
