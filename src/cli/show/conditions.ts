import { type Condition, ConditionListBody } from "../../api/conditions.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { dim, fitting, printable, red, yellow } from "../terminal/text.ts";
import { typeable } from "../terminal/typed.ts";

/**
 * What is so, behind its mark, and beneath it what helps: broken at words, and indented, where that
 * is wider than the reader's terminal.
 */
export function remarkLines(mark: string, text: string, remedy?: string): string[] {
  const lines = [`${mark} ${text}`, ...(remedy === undefined ? [] : [`  ${dim(remedy)}`])];
  return fitting(lines.map((line) => typeable(line)));
}

/** What is not as it should be, and what helps. */
export function conditionLines({ severity, text, remedy }: Condition): string[] {
  const mark = severity === "failed" ? red("✗") : yellow("!");
  return remarkLines(mark, printable(text), printable(remedy));
}

const STANDS_STILL: readonly Condition["code"][] = [
  "temporal-unreachable",
  "no-worker",
  "key-missing",
];

/** Why a run stands still that nobody can work on; nothing where somebody does. */
async function nobodyWorks(gateway: GatewayClient): Promise<string[]> {
  const { items } = await gateway.get("/v1/conditions", ConditionListBody);
  return items.filter(({ code }) => STANDS_STILL.includes(code)).flatMap(conditionLines);
}

/** The same after something was done, which stays done whatever is known of who works. */
export async function noteNobodyWorks(gateway: GatewayClient, output: Output): Promise<void> {
  for (const line of await nobodyWorks(gateway).catch(() => [])) output.note(line);
}

/** How often is looked whether anybody works: what a dead worker leaves undone changes nothing else. */
const WORKERS_EVERY_MS = 10_000;

/** What whoever watches is told of those who work. */
interface Workers {
  /** What is wrong with them now, for `pollUntil`. */
  readonly notes: () => Promise<readonly string[]>;
  /** Tells of a change where nothing is redrawn; a live view has the notes in it. */
  readonly heard: (notes: readonly string[]) => void;
}

/** Tells whoever watches when nobody works, first of all, and when somebody works again. */
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

/** A look that is too dear for each poll: its last answer, and a new one after a while. */
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
