import { hostname } from "node:os";
import { reasonOf, repeat, type Repeated } from "../process/repeat.ts";
import { noteHistoryKey } from "../store/runs/history-keys.ts";
import { forgetWorkers, knownWorkers, noteWorker } from "../store/sql/worker-leases.ts";
import type { Store } from "../store/index.ts";
import type { EncryptionSettings } from "../temporal/codec.ts";

const EVERY_MS = 10_000;

interface Present {
  readonly store: Store;
  readonly workerId: string;
  readonly encryption: EncryptionSettings;
  readonly log: { info(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Records in the store that this worker works. A frozen worker records nothing, while Temporal,
 * which still counts its open polls, would not show that for minutes.
 */
export async function startPresence({
  store,
  workerId,
  encryption,
  log,
}: Present): Promise<Repeated> {
  const { db } = store;
  const keyIds = encryption.encryptionKeys.map(({ id }) => id);
  const [newest] = keyIds;
  const work = async (): Promise<number> => {
    await noteWorker(db, workerId, keyIds);
    if (newest !== undefined && encryption.encryptsHistories()) await noteHistoryKey(db, newest);
    return EVERY_MS;
  };
  const failed = (error: unknown): number => {
    log.info("this worker could not note in the store that it works", { reason: reasonOf(error) });
    return EVERY_MS;
  };
  await forgetDead(store).catch(failed);
  await work().catch(failed);
  const repeated = repeat(work, failed);
  return {
    stop: async () => {
      await repeated.stop();
      await forgetWorkers(db, [workerId]).catch(failed);
    },
  };
}

/**
 * Deletes the records of workers that were killed on this machine: they are of no more interest.
 */
async function forgetDead({ db }: Store): Promise<void> {
  const known = await knownWorkers(db);
  const dead = known.filter(({ workerId }) => {
    const [, host, pid] = /^(.*):(\d+)$/.exec(workerId) ?? [];
    return host === hostname() && pid !== undefined && !isAlive(Number(pid));
  });
  await forgetWorkers(
    db,
    dead.map(({ workerId }) => workerId),
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
