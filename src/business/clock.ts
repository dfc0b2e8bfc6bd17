import { type Clock, PEOPLE_MIN_MS } from "../domain/clock/clock.ts";

/** How many times sooner a sandbox is looked at again. */
const SANDBOX_SOONER = 30;

/** What a reading shows; what is missing is as in real time, with a service not yet heard. */
interface Shown {
  readonly businessMs: number;
  readonly serviceMs?: number;
  readonly serviceOffMs?: number;
  readonly serviceHeard?: boolean;
  readonly realMs?: number;
  /** Business seconds in a real second; 1 everywhere except in a sandbox. */
  readonly scale?: number;
  readonly sandbox?: boolean;
  readonly zone?: string | undefined;
}

/** The two clocks of a business, read at one moment (design, "Clocks"). */
export class ClockReading implements Clock {
  readonly businessMs: number;
  /** The service's: Retry-After, idempotency windows. Ours, until its `Date` has been received. */
  readonly serviceMs: number;
  /**
   * By how much the service's own time may be later, because the response with it took so long. 0
   * outside sandboxes: there the database's clock is read beside it.
   */
  readonly serviceOffMs: number;
  /** True once the service's own time is known. */
  readonly serviceHeard: boolean;
  readonly realMs: number;
  /** True if the clocks are a sandbox's: then only its wire clock measures the service's windows. */
  readonly sandbox: boolean;
  readonly zone: string | undefined;
  readonly #scale: number;

  constructor(shown: Shown) {
    this.businessMs = shown.businessMs;
    this.serviceMs = shown.serviceMs ?? shown.businessMs;
    this.serviceOffMs = shown.serviceOffMs ?? 0;
    this.serviceHeard = shown.serviceHeard ?? false;
    this.realMs = shown.realMs ?? shown.businessMs;
    this.sandbox = shown.sandbox ?? false;
    this.zone = shown.zone;
    this.#scale = shown.scale ?? 1;
  }

  get peopleMinMs(): number {
    return this.#scale > 1 ? PEOPLE_MIN_MS : 0;
  }

  realMsUntil(businessMs: number): number {
    return (businessMs - this.businessMs) / this.#scale;
  }

  afterRealMs(realMs: number): number {
    return this.businessMs + realMs * this.#scale;
  }

  soonerMs(realMs: number): number {
    return this.sandbox ? realMs / SANDBOX_SOONER : realMs;
  }

  /** Returns the reading with these things shown instead. */
  with(change: Partial<Shown>): ClockReading {
    const { businessMs, serviceMs, serviceOffMs, serviceHeard, realMs, sandbox, zone } = this;
    const heard = { serviceMs, serviceOffMs, serviceHeard };
    const shown = { businessMs, realMs, sandbox, zone, scale: this.#scale };
    return new ClockReading({ ...shown, ...heard, ...change });
  }

  /** Returns what the clocks show at a later instant of real time. */
  carriedOn(realMs: number): ClockReading {
    const elapsedMs = Math.max(0, realMs - this.realMs);
    return this.with({
      realMs,
      businessMs: this.afterRealMs(elapsedMs),
      serviceMs: this.serviceMs + elapsedMs,
    });
  }
}

/** A business's clocks, to be read. */
export interface BusinessClock {
  now(): Promise<ClockReading>;
  /** As `now`, no older than the call: a sandbox's clock may just have been stepped. */
  readAnew(): Promise<ClockReading>;
  /** Sets the service's time by its `Date` header. */
  observeServiceDate(dateMs: number): void;
  /**
   * Reads the clock anew; true if it was stepped, or runs at another speed, since the last call.
   */
  hasMoved(): Promise<boolean>;
}

/** Instants on both clocks, in whole milliseconds; null if they can't be read. */
export interface TimesNow {
  readonly serviceMs: number | null;
  readonly businessMs: number | null;
}

/** Returns the latest that it may be now, at the service and at its bank. */
export async function timesNow(clock: BusinessClock): Promise<TimesNow> {
  const now = await clock.now().catch(() => undefined);
  if (now === undefined) return { serviceMs: null, businessMs: null };
  return {
    serviceMs: Math.ceil(now.serviceMs + now.serviceOffMs),
    businessMs: Math.ceil(now.afterRealMs(now.serviceOffMs)),
  };
}
