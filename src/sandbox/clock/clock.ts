import type { DatabaseSync } from "node:sqlite";
import { addDuration } from "./duration.ts";

const clockDdl = `
CREATE TABLE IF NOT EXISTS clock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  real_ms REAL NOT NULL,
  bank_ms REAL NOT NULL,
  scale REAL NOT NULL,
  wire_offset_ms REAL NOT NULL
);
`;

/** The answer of `GET /sandbox/clock`: two instants, and bank seconds per real second. */
export interface ShownClocks {
  bank: string;
  wire: string;
  scale: number;
}

/** The body of `POST /sandbox/clock`; every part may be left out. */
export interface ClockChange {
  /** The bank clock's new instant, ISO 8601 with a zone. */
  set?: string | undefined;
  /** The ISO 8601 duration by which the bank clock leaps ahead, after `set`. */
  advance?: string | undefined;
  /** Bank seconds per real second from now on. */
  scale?: number | undefined;
  wire?: { advance?: string | undefined } | undefined;
}

/** A change of the clocks that is refused (HTTP 422); no part of it has been applied. */
export class ClockError extends Error {
  override readonly name = "ClockError";
  readonly status = 422;
  readonly code = "validation_error";
}

const latestMs = Date.UTC(9999, 11, 31);
const largestScale = 1e9;
const checkpointMs = 500;
/**
 * The real time without a checkpoint that still counts at full scale when the clock is opened
 * again. It is more than a checkpoint's period, so that the clock cannot fall behind what was read
 * from it before a kill. It is short, so that a night during which the service is down does not
 * become a century.
 */
const graceMs = 5_000;
const instantWithZone = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

interface Anchor {
  realMs: number;
  bankMs: number;
  scale: number;
  wireOffsetMs: number;
}

/**
 * The sandbox's two clocks, kept in its database so that they go on after a restart.
 *
 * The bank clock drives settlement, execution and returns, and may run fast or leap ahead. The wire
 * clock drives tokens, signatures, idempotency windows and back-off; it runs in real time and may
 * leap ahead. Neither ever goes back, except by {@link BankAndWireClock.reset}. While the service is
 * down, the bank clock runs no faster than real time.
 */
export class BankAndWireClock {
  readonly #db: DatabaseSync;
  readonly #listeners = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #anchor: Anchor;
  #lastBankMs = 0;
  #lastWireMs = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    db.exec(clockDdl);
    this.#anchor = this.#load();
    this.#save();
    this.#timer = setInterval(() => {
      if (this.#anchor.scale !== 1 && !this.#db.isTransaction) this.#checkpoint();
    }, checkpointMs);
    this.#timer.unref();
  }

  /** Returns the bank clock's time, in milliseconds since the epoch. */
  bankNow(): number {
    this.#lastBankMs = Math.max(this.#lastBankMs, Math.floor(this.#exactBankMs(Date.now())));
    return this.#lastBankMs;
  }

  /** Returns the wire clock's time, in milliseconds since the epoch. */
  wireNow(): number {
    const nowMs = Math.min(latestMs, Date.now() + this.#anchor.wireOffsetMs);
    this.#lastWireMs = Math.max(this.#lastWireMs, nowMs);
    return this.#lastWireMs;
  }

  /** Bank seconds per real second. */
  get scale(): number {
    return this.#anchor.scale;
  }

  read(): ShownClocks {
    return {
      bank: new Date(this.bankNow()).toISOString(),
      wire: new Date(this.wireNow()).toISOString(),
      scale: this.scale,
    };
  }

  /**
   * Returns the real milliseconds until the bank clock reaches an instant if the clock isn't
   * changed; 0 if the instant is past.
   */
  realMsUntilBank(instantMs: number): number {
    return Math.max(0, (instantMs - this.bankNow()) / this.scale);
  }

  /**
   * Returns the real milliseconds until the wire clock reaches an instant if the clock isn't
   * stepped; 0 if the instant is past.
   */
  realMsUntilWire(instantMs: number): number {
    return Math.max(0, instantMs - this.wireNow());
  }

  /**
   * Applies a change as a whole or not at all, then calls the listeners.
   *
   * @throws {ClockError} if a clock would go back, or a text or number is not valid.
   */
  change(change: ClockChange): ShownClocks {
    const bankMs = this.#changedBank(change);
    const scale = change.scale ?? this.scale;
    if (!Number.isFinite(scale) || scale <= 0 || scale > largestScale) {
      throw new ClockError(`scale must be above 0 and at most ${largestScale}; got ${scale}`);
    }
    const wireMs = leap("wire.advance", this.wireNow(), change.wire?.advance);
    const realMs = Date.now();
    this.#anchor = { realMs, bankMs, scale, wireOffsetMs: wireMs - realMs };
    this.#save();
    for (const listener of this.#listeners) listener();
    return this.read();
  }

  /**
   * Sets both clocks to real time and scale 1. This is the only way back, for a sandbox that
   * forgets everything.
   */
  reset(): void {
    const realMs = Date.now();
    this.#anchor = { realMs, bankMs: realMs, scale: 1, wireOffsetMs: 0 };
    this.#lastBankMs = 0;
    this.#lastWireMs = 0;
    this.#save();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after every change of a clock. @returns a function that stops that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Saves where the clock stands and stops its timer. Call it before the database closes. */
  close(): void {
    clearInterval(this.#timer);
    this.#checkpoint();
  }

  #exactBankMs(realNowMs: number): number {
    const { realMs, bankMs, scale } = this.#anchor;
    return Math.min(latestMs, bankMs + Math.max(0, realNowMs - realMs) * scale);
  }

  #changedBank(change: ClockChange): number {
    const nowMs = this.bankNow();
    let bankMs = nowMs;
    if (change.set !== undefined) {
      bankMs = instantWithZone.test(change.set) ? Date.parse(change.set) : Number.NaN;
      if (Number.isNaN(bankMs)) {
        throw new ClockError(`set must be an ISO 8601 instant with a zone; got "${change.set}"`);
      }
      if (bankMs < nowMs) {
        throw new ClockError(
          `The bank clock stands at ${new Date(nowMs).toISOString()} and cannot go back to ${change.set}`,
        );
      }
    }
    return leap("advance", bankMs, change.advance);
  }

  #load(): Anchor {
    const row = this.#db
      .prepare("SELECT real_ms, bank_ms, scale, wire_offset_ms FROM clock WHERE one = 1")
      .get();
    const realMs = Date.now();
    if (row === undefined) return { realMs, bankMs: realMs, scale: 1, wireOffsetMs: 0 };
    const savedRealMs = Number(row["real_ms"]);
    const scale = Number(row["scale"]);
    const wireOffsetMs = Number(row["wire_offset_ms"]);
    const downMs = Math.max(0, realMs - savedRealMs);
    const fastMs = Math.min(downMs, graceMs);
    this.#lastWireMs = savedRealMs + wireOffsetMs;
    const bankMs = Number(row["bank_ms"]) + fastMs * scale + (downMs - fastMs) * Math.min(scale, 1);
    return { realMs, bankMs: Math.min(latestMs, bankMs), scale, wireOffsetMs };
  }

  #checkpoint(): void {
    // Not the rounded bankNow(): at a small scale, rounding at every checkpoint would stop the
    // clock.
    const realMs = Date.now();
    const bankMs = Math.max(this.#lastBankMs, this.#exactBankMs(realMs));
    this.#anchor = { ...this.#anchor, bankMs, realMs };
    this.#save();
  }

  #save(): void {
    const { realMs, bankMs, scale, wireOffsetMs } = this.#anchor;
    this.#db
      .prepare(
        `INSERT INTO clock (one, real_ms, bank_ms, scale, wire_offset_ms) VALUES (1, ?, ?, ?, ?)
         ON CONFLICT (one) DO UPDATE SET real_ms = excluded.real_ms, bank_ms = excluded.bank_ms,
           scale = excluded.scale, wire_offset_ms = excluded.wire_offset_ms`,
      )
      .run(realMs, bankMs, scale, wireOffsetMs);
  }
}

function leap(field: string, fromMs: number, duration: string | undefined): number {
  if (duration === undefined) return fromMs;
  const toMs = addDuration(fromMs, duration);
  if (toMs === undefined || toMs > latestMs) {
    throw new ClockError(`${field} must be an ISO 8601 duration such as P3D; got "${duration}"`);
  }
  if (toMs < fromMs) throw new ClockError(`${field} must not be negative; got "${duration}"`);
  return toMs;
}
