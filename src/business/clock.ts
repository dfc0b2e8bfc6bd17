import type { BusinessProfile } from "../config/business-profile.ts";
import { SandboxClock } from "./sandbox-clock.ts";

/** The two clocks of a business, read at one moment (design, "Clocks"). */
export interface ClockReading {
  /** Due dates, cut-offs, execution, settlement, approval expiry. */
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
  /** Business seconds in a real second; 1 everywhere except in a sandbox. */
  readonly scale: number;
  /** True if the clocks are a sandbox's, which may be stepped. */
  readonly sandbox: boolean;
  readonly realMs: number;
  /**
   * The zone in which the business's people are shown times; New York's unless its profile names
   * one.
   */
  readonly zone?: string | undefined;
}

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

/** A `Date` that is further from our own clock is not the service's time: it is not heard. */
const SERVICE_OFF_MAX_MS = 60 * 60_000;

/** Real time; the service's own from its `Date` header, which may differ from ours. */
class RealClock implements BusinessClock {
  readonly #zone: string | undefined;
  #offsetMs: number | undefined;

  constructor(zone?: string) {
    this.#zone = zone;
  }

  now(): Promise<ClockReading> {
    const realMs = Date.now();
    return Promise.resolve({
      businessMs: realMs,
      // A `Date` arrives after it was written, so this is never later than the service's own time.
      serviceMs: realMs + (this.#offsetMs ?? 0),
      serviceOffMs: 0,
      serviceHeard: this.#offsetMs !== undefined,
      scale: 1,
      sandbox: false,
      realMs,
      zone: this.#zone,
    });
  }

  readAnew(): Promise<ClockReading> {
    return this.now();
  }

  observeServiceDate(dateMs: number): void {
    const offsetMs = dateMs - Date.now();
    if (Math.abs(offsetMs) <= SERVICE_OFF_MAX_MS) this.#offsetMs = offsetMs;
  }

  hasMoved(): Promise<boolean> {
    return Promise.resolve(false);
  }
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
  const { serviceMs, businessMs, serviceOffMs, scale } = now;
  return {
    serviceMs: Math.ceil(serviceMs + serviceOffMs),
    businessMs: Math.ceil(businessMs + serviceOffMs * scale),
  };
}

/** One clock for each business, shared by everything in this process. */
export class Clocks {
  readonly #clocks = new Map<string, { readonly key: string; readonly clock: BusinessClock }>();

  of(profile: BusinessProfile): BusinessClock {
    const { sandbox, apiUrl, zone } = profile;
    const key = `${sandbox ? apiUrl : ""} ${zone ?? ""}`;
    const known = this.#clocks.get(profile.name);
    if (known?.key === key) return known.clock;
    const clock = sandbox ? new SandboxClock(apiUrl, zone) : new RealClock(zone);
    this.#clocks.set(profile.name, { key, clock });
    return clock;
  }
}
