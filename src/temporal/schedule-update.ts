import { type Client, isGrpcServiceError, type ScheduleDescription } from "@temporalio/client";
import { isInStep, type LauncherOptions } from "./schedule-drift.ts";

type ScheduleClient = Client["schedule"];
type UpdateRequest = Parameters<ScheduleClient["workflowService"]["updateSchedule"]>[0];

/** Of gRPC's status codes. */
const FAILED_PRECONDITION = 9;

/** Who changes a schedule each time that we do is no person. */
const TRIES = 5;

/**
 * Brings a schedule at Temporal in step, a pause left as it stands: also one that is made between
 * our reading and our writing. The SDK writes the whole schedule whatever happened since it was
 * read; with the token of what was read, a server takes no such change, and it is tried again.
 *
 * @throws Error where somebody else changes it again and again
 */
export async function updateSchedule(client: Client, options: LauncherOptions): Promise<void> {
  const { scheduleId, spec, action, policies } = options;
  for (let tries = 0; tries < TRIES; tries += 1) {
    let token: Uint8Array | null | undefined;
    const handle = tokened(client.schedule, () => token).getHandle(scheduleId);
    const update = handle.update(({ raw, state: { paused, note } }) => {
      token = raw.conflictToken;
      return { spec, action, policies, state: { paused, ...(note === undefined ? {} : { note }) } };
    });
    await update.catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
    // Some servers leave such a change out without a word.
    if (isInStep(await describe(client, scheduleId), options)) return;
  }
  throw new Error(`the schedule ${scheduleId} is being changed at Temporal again and again`);
}

function isConflict(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) && cause.code === FAILED_PRECONDITION;
}

function describe(client: Client, scheduleId: string): Promise<ScheduleDescription> {
  return client.schedule.getHandle(scheduleId).describe();
}

/** The same client, whose updates carry a token. */
function tokened(
  schedule: ScheduleClient,
  token: () => Uint8Array | null | undefined,
): ScheduleClient {
  const service = schedule.workflowService;
  const update = (request: UpdateRequest): Promise<object> => {
    const conflictToken = token();
    return service.updateSchedule({
      ...request,
      ...(conflictToken === undefined ? {} : { conflictToken }),
    });
  };
  const carrying: unknown = Object.create(service, { updateSchedule: { value: update } });
  return Object.create(schedule, { workflowService: { value: carrying } }) as ScheduleClient;
}
