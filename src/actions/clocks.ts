import { Clocks, type ClockReading } from "../business/clock.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { GatewayError } from "./errors.ts";

/** Where the time of a business comes from (design, "Clocks"). */
export interface BusinessClocks {
  /** @throws GatewayError 503 where a sandbox's clock has never been readable */
  read(profile: BusinessProfile): Promise<ClockReading>;
}

/**
 * The clocks of the businesses, as the whole engine reads them.
 *
 * A sandbox that restarts keeps its clocks going, so its last reading is carried on by our own
 * clock: a webhook or an approval must not be lost to that.
 */
export function createBusinessClocks(): BusinessClocks {
  const clocks = new Clocks();
  const last = new Map<string, ClockReading>();
  return {
    async read(profile) {
      const key = `${profile.name} ${profile.apiUrl}`;
      try {
        const reading = await clocks.of(profile).now();
        last.set(key, reading);
        return reading;
      } catch (error) {
        const known = last.get(key);
        if (known !== undefined) return carriedOn(known);
        const why = error instanceof Error ? error.message : String(error);
        throw new GatewayError(
          503,
          "clock_unreachable",
          `The sandbox's clock at ${profile.apiUrl}/sandbox/clock can't be read: ${why}.`,
        );
      }
    },
  };
}

function carriedOn(reading: ClockReading): ClockReading {
  const realMs = Date.now();
  const elapsedMs = Math.max(0, realMs - reading.realMs);
  return {
    ...reading,
    realMs,
    businessMs: reading.businessMs + elapsedMs * reading.scale,
    serviceMs: reading.serviceMs + elapsedMs,
  };
}
