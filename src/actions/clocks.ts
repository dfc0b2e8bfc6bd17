import type { ClockReading } from "../business/clock.ts";
import { Clocks } from "../business/clocks.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { GatewayError } from "./errors.ts";

/** The source of a business's time (design, "Clocks"). */
export interface BusinessClocks {
  /** @throws GatewayError 503 if a sandbox's clock has never been readable */
  read(profile: BusinessProfile): Promise<ClockReading>;
}

/**
 * Creates the clocks of the businesses, read as in the whole engine.
 *
 * While a sandbox restarts, its clocks go on, so this process's clock carries the last reading on:
 * the restart must not cost a webhook or an approval.
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
        if (known !== undefined) return known.carriedOn(Date.now());
        const why = error instanceof Error ? error.message : String(error);
        throw new GatewayError(
          "clock_unreachable",
          `The sandbox's clock at ${profile.apiUrl}/sandbox/clock can't be read: ${why}.`,
        );
      }
    },
  };
}
