import { type Condition, ConditionListBody } from "../../api/conditions.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { dim, fitting, printable, red, yellow } from "../terminal/text.ts";
import { typeable } from "../terminal/typed.ts";

/**
 * Returns a remark behind its mark, and the remedy beneath it; both are broken at words, and
 * indented, if they are wider than the reader's terminal.
 */
export function remarkLines(mark: string, text: string, remedy?: string): string[] {
  const lines = [`${mark} ${text}`, ...(remedy === undefined ? [] : [`  ${dim(remedy)}`])];
  return fitting(lines.map((line) => typeable(line)));
}

/** Describes a problem and its remedy. */
export function conditionLines({ severity, text, remedy }: Condition): string[] {
  const mark = severity === "failed" ? red("✗") : yellow("!");
  return remarkLines(mark, printable(text), printable(remedy));
}

const STANDS_STILL: readonly Condition["code"][] = [
  "store_not_writable",
  "temporal_unreachable",
  "no_worker",
  "key_missing",
];

/** Returns why no worker can advance a run; nothing if a worker can. */
async function nobodyWorks(gateway: GatewayClient): Promise<string[]> {
  const { items } = await gateway.get("/v1/conditions", ConditionListBody);
  return items.filter(({ code }) => STANDS_STILL.includes(code)).flatMap(conditionLines);
}

/** Notes the same after an action, which stays done even if the check for workers fails. */
export async function noteNobodyWorks(gateway: GatewayClient, output: Output): Promise<void> {
  for (const line of await nobodyWorks(gateway).catch(() => [])) output.note(line);
}

/** How often to check for workers: what a dead worker leaves undone shows in no other way. */
const WORKERS_EVERY_MS = 10_000;

/** What a watching person learns about the workers. */
interface Workers {
  /** Returns what is wrong with them now, for `pollUntil`. */
  readonly notes: () => Promise<readonly string[]>;
  /** Reports a change if nothing is redrawn; a live view contains the notes. */
  readonly heard: (notes: readonly string[]) => void;
}

/** Notes if no worker is running, at the start and later, and when one is running again. */
export async function watchedWorkers(gateway: GatewayClient, output: Output): Promise<Workers> {
  const isLive = process.stdout.isTTY && !output.json;
  let told: readonly string[] = [];
  const heard = (notes: readonly string[]): void => {
    const isNew = notes.join() !== told.join();
    told = [...notes];
    if (!isNew || isLive) return;
    for (const line of notes.length === 0 ? ["Work goes on."] : notes) output.note(line);
  };
  const first = await nobodyWorks(gateway);
  heard(first);
  return { notes: everySoOften(() => nobodyWorks(gateway), first, WORKERS_EVERY_MS), heard };
}

/**
 * Limits a check that is too expensive for each poll: returns its last result, and a new one after
 * a while.
 */
export function everySoOften<T>(
  look: () => Promise<T>,
  first: T,
  everyMs: number,
): () => Promise<T> {
  let [last, atMs] = [first, Date.now()];
  return async () => {
    if (Date.now() - atMs < everyMs) return last;
    last = await look();
    atMs = Date.now();
    return last;
  };
}
