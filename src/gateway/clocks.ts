import { request } from "undici";
import { z } from "zod";
import type { BusinessProfile } from "../config/business-profile.ts";
import { GatewayError } from "./http/errors.ts";

export interface ClockReading {
  /** Business clock: due dates, approval expiry, holds. */
  readonly businessMs: number;
  /** The service's own clock: signatures, `Retry-After`. */
  readonly serviceMs: number;
  /** Business seconds per real second. */
  readonly scale: number;
}

/** Where the time of a business comes from (design, "Clocks"). */
export interface BusinessClocks {
  /** @throws GatewayError 503 where a sandbox's clock has never been readable */
  read(profile: BusinessProfile): Promise<ClockReading>;
}

const CACHE_MS = 1_000;
const TIMEOUT_MS = 2_000;

const SandboxClock = z.object({ bank: z.string(), wire: z.string(), scale: z.number() });

interface Cached {
  readonly reading: ClockReading;
  readonly readAtMs: number;
}

/**
 * Real time for every profile but those with `sandbox: true`: these follow
 * `{apiUrl}/sandbox/clock`, read again after a second.
 *
 * @param nowMs real time
 */
export function createBusinessClocks(nowMs: () => number): BusinessClocks {
  const cache = new Map<string, Cached>();
  const pending = new Map<string, Promise<ClockReading>>();

  async function refresh(apiUrl: string): Promise<ClockReading> {
    try {
      const reading = await readSandboxClock(apiUrl);
      cache.set(apiUrl, { reading, readAtMs: nowMs() });
      return reading;
    } catch (error) {
      const last = cache.get(apiUrl);
      // The sandbox may be restarting: its clocks go on meanwhile.
      if (last !== undefined) return carriedForward(last, nowMs());
      throw new GatewayError(
        503,
        "clock_unreachable",
        `The sandbox's clock at ${apiUrl}/sandbox/clock can't be read: ${reasonOf(error)}`,
      );
    } finally {
      pending.delete(apiUrl);
    }
  }

  return {
    async read(profile) {
      const now = nowMs();
      if (!profile.sandbox) return { businessMs: now, serviceMs: now, scale: 1 };
      const cached = cache.get(profile.apiUrl);
      if (cached !== undefined && now - cached.readAtMs < CACHE_MS) {
        return carriedForward(cached, now);
      }
      const running = pending.get(profile.apiUrl) ?? refresh(profile.apiUrl);
      pending.set(profile.apiUrl, running);
      return running;
    },
  };
}

function carriedForward({ reading, readAtMs }: Cached, now: number): ClockReading {
  const elapsedMs = Math.max(0, now - readAtMs);
  return {
    businessMs: Math.round(reading.businessMs + elapsedMs * reading.scale),
    serviceMs: reading.serviceMs + elapsedMs,
    scale: reading.scale,
  };
}

async function readSandboxClock(apiUrl: string): Promise<ClockReading> {
  const answer = await request(`${apiUrl.replace(/\/$/, "")}/sandbox/clock`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (answer.statusCode !== 200) {
    await answer.body.dump();
    throw new Error(`it answered ${answer.statusCode}`);
  }
  const clock = SandboxClock.parse(await answer.body.json());
  return {
    businessMs: Date.parse(clock.bank),
    serviceMs: Date.parse(clock.wire),
    scale: clock.scale,
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
