import type { Condition } from "../api/conditions.ts";
import type { StoreState } from "../domain/store-states.ts";
import type { Db } from "../store/index.ts";
import { keysOfOpenWork } from "../store/runs/history-keys.ts";
import { type KnownWorker, knownWorkers } from "../store/sql/worker-leases.ts";
import { failed, spokenText, warning } from "./condition-texts.ts";

/** Reports whether a worker is at work, and can read what it is to work on. */
export async function workerConditions({
  db,
  storeState,
  hasJustRecovered = false,
  keyIds,
}: {
  readonly db: Db;
  /** If nothing can be written to the store, no worker can note there that it works. */
  readonly storeState: StoreState;
  readonly hasJustRecovered?: boolean;
  /** Ids of the answering process's encryption keys; the first is the one that it encrypts with. */
  readonly keyIds: readonly string[];
}): Promise<Condition[]> {
  const workers = await knownWorkers(db);
  const silent = workers.filter(({ silentMs }) => silentMs > 0);
  if (silent.length > 0 && (storeState !== "ok" || hasJustRecovered)) {
    return [
      failed(
        "no_worker",
        "whether workers work is unknown: none could note it, because nothing could be written to the store",
        "They note it again within half a minute once the store can be written: look at what is said about it.",
      ),
    ];
  }
  if (workers.length === 0) {
    return [
      failed(
        "no_worker",
        "no worker has been heard from",
        "“payrun worker” or “payrun up” starts one.",
      ),
    ];
  }
  if (silent.length === workers.length) {
    const last = silent.map(({ workerId, silentMs }) => `${workerId} for ${spokenText(silentMs)}`);
    return [
      failed(
        "no_worker",
        `no worker works: nothing was heard from ${last.join(", ")}`,
        `${endOf(silent)} Start another with “payrun worker”; “payrun up” does so by itself.`,
      ),
    ];
  }
  const working = workers.filter(({ silentMs }) => silentMs === 0);
  return [
    ...(await keyConditions(db, working, keyIds)),
    ...silent.map(({ workerId, silentMs }) =>
      warning(
        "worker_silent",
        `nothing was heard from the worker ${workerId} for ${spokenText(silentMs)}; others work`,
        `${endOf([{ workerId }])} Another one goes on with what it had begun.`,
      ),
    ),
  ];
}

/** Returns how to end frozen workers: they react to no other signal. */
function endOf(workers: readonly Pick<KnownWorker, "workerId">[]): string {
  const commands = workers.map(({ workerId }) => {
    const [, host, process] = /^(.+):(\d+)$/.exec(workerId) ?? [];
    return process === undefined ? "“kill -KILL PROCESS”" : `“kill -KILL ${process}” on ${host}`;
  });
  return `A process that is still there is frozen, and takes no other signal: ${[...new Set(commands)].join(", ")}.`;
}

/** Reports missing keys: a process without a key can't continue what was begun under it. */
async function keyConditions(
  db: Db,
  workers: readonly KnownWorker[],
  ours: readonly string[],
): Promise<Condition[]> {
  const old = await keysOfOpenWork(db);
  return workers.flatMap(({ workerId, keyIds }) => {
    if (keyIds === null) return [];
    const name = `the worker ${workerId}`;
    const [our] = ours;
    const [its] = keyIds;
    const needed = new Map([
      ...old.map((keyId) => [keyId, "work that is open was begun"] as const),
      ...(our === undefined ? [] : [[our, "the gateway and others encrypt"] as const]),
    ]);
    const lacking = [...needed].filter(([keyId]) => !keyIds.includes(keyId));
    return [
      ...lacking.map(([keyId, what]) => keyMissing(`${name} has`, keyId, what)),
      ...(its === undefined || ours.includes(its)
        ? []
        : [keyMissing("the settings here have", its, `${name} encrypts`)]),
    ];
  });
}

function keyMissing(whoHas: string, keyId: string, what: string): Condition {
  return failed(
    "key_missing",
    `${whoHas} no encryption key “${keyId}”, with which ${what}: what is encrypted with it can't be read or continued`,
    "Set PAYRUN_ENCRYPTION_KEYS to the same keys for each worker and gateway, those of open work included, and restart those that lack one.",
  );
}
