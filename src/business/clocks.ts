import type { BusinessProfile } from "../config/business-profile.ts";
import { type BusinessClock, ClockReading } from "./clock.ts";
import { SandboxClock } from "./sandbox-clock.ts";

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
    return Promise.resolve(
      new ClockReading({
        businessMs: realMs,
        // A `Date` arrives after it was written, so this is never later than the service's own time.
        serviceMs: realMs + (this.#offsetMs ?? 0),
        serviceHeard: this.#offsetMs !== undefined,
        realMs,
        zone: this.#zone,
      }),
    );
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
