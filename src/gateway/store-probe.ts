import type { StoreState } from "../domain/store-states.ts";
import { inTime } from "../process/in-time.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { howItTakesWrites, storeStateOf } from "../store/sql/small-write.ts";
import type { Store, StoreError } from "../store/index.ts";

/** How long what is known of the store counts, so that asking for it costs its disk nothing. */
const KNOWN_FOR_MS = 3_000;

const OF_ALL_WRITES: readonly StoreError["code"][] = ["full", "read_only", "failing"];

/** How long an answer is waited for. */
const ANSWERS_WITHIN_MS = 2_000;

/** The longest that a write waits for another process without anything being wrong. */
const WAITS_AT_MOST_MS = 10_000;

/** By then workers that work have noted it again. */
const NOTED_AGAIN_AFTER_MS = 30_000;

/**
 * Knows how the store takes writes: from what fails, and from a small write every few seconds at
 * most, whoever asks for it and how often.
 */
export class StoreProbe {
  readonly #store: Store;
  readonly #clockMs: () => number;
  #known: { readonly state: StoreState; readonly atMs: number } = { state: "ok", atMs: -Infinity };
  #troubleAtMs = -Infinity;
  #writing: { readonly sinceMs: number; readonly done: Promise<StoreState> } | undefined;

  /** @param clockMs a clock that only goes on */
  constructor(store: Store, clockMs: () => number = () => performance.now()) {
    this.#store = store;
    this.#clockMs = clockMs;
  }

  /** Returns how it is now, in at most a few seconds; tries a write if that isn't known. */
  async state(): Promise<StoreState> {
    // Elsewhere the store waits for a database server that restarts; this is to be answered now.
    const answers = await inTime(
      databaseNowMs(this.#store.db).then(() => "ok" as const, storeStateOf),
      ANSWERS_WITHIN_MS,
      "unreachable" as const,
    );
    if (answers !== "ok") return answers;
    const { state, atMs } = this.#known;
    if (this.#clockMs() - atMs < KNOWN_FOR_MS) return state;
    const writing = (this.#writing ??= { sinceMs: this.#clockMs(), done: this.#write() });
    const found = await inTime(writing.done, ANSWERS_WITHIN_MS, undefined);
    if (found !== undefined) return found;
    return this.#clockMs() - writing.sinceMs > WAITS_AT_MOST_MS ? "locked" : state;
  }

  /** True if the store took no writes until a moment ago, so that its rows may be behind. */
  get hasJustRecovered(): boolean {
    return this.#clockMs() - this.#troubleAtMs < NOTED_AGAIN_AFTER_MS;
  }

  /** Notes that something has failed, if that says how all writes fare, not only this one. */
  noteFailure(error: StoreError): void {
    if (OF_ALL_WRITES.includes(error.code)) this.#know(storeStateOf(error));
  }

  async #write(): Promise<StoreState> {
    const state = await howItTakesWrites(this.#store);
    this.#know(state);
    this.#writing = undefined;
    return state;
  }

  #know(state: StoreState): void {
    const atMs = this.#clockMs();
    this.#known = { state, atMs };
    if (state !== "ok") this.#troubleAtMs = atMs;
  }
}
