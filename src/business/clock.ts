import { request } from "undici";
import { z } from "zod";
import type { BusinessProfile } from "../config/business-profile.ts";

/** The two clocks of a business, read at one moment (design, "Clocks"). */
export interface ClockReading {
  /** Due dates, cut-offs, execution, settlement, approval expiry. */
  readonly businessMs: number;
  /** The service's: Retry-After, idempotency windows. Ours, until its `Date` has been heard. */
  readonly serviceMs: number;
  /** True once the service's own time is known. */
  readonly serviceHeard: boolean;
  /** Business seconds in a real second; 1 everywhere but in a sandbox. */
  readonly scale: number;
  /** True where the clocks are a sandbox's, which may be stepped. */
  readonly sandbox: boolean;
  readonly realMs: number;
}

export interface BusinessClock {
  now(): Promise<ClockReading>;
  /** Tells the clock what the service's `Date` header said. */
  observeServiceDate(dateMs: number): void;
}

/** Real time; the service's own from its `Date` header, which may differ from ours. */
class RealClock implements BusinessClock {
  #offsetMs: number | undefined;

  now(): Promise<ClockReading> {
    const realMs = Date.now();
    return Promise.resolve({
      businessMs: realMs,
      // A `Date` is heard after it was written, so this is never later than the service's own time.
      serviceMs: realMs + (this.#offsetMs ?? 0),
      serviceHeard: this.#offsetMs !== undefined,
      scale: 1,
      sandbox: false,
      realMs,
    });
  }

  observeServiceDate(dateMs: number): void {
    this.#offsetMs = dateMs - Date.now();
  }
}

const sandboxClockSchema = z.object({
  bank: z.iso.datetime({ offset: true }),
  wire: z.iso.datetime({ offset: true }),
  scale: z.number().positive(),
});

/** How long one reading of the sandbox's clocks is carried on by our own. */
const READING_VALID_MS = 1_000;

/** The sandbox's clocks, read again every second, so that a stepped clock is noticed. */
class SandboxClock implements BusinessClock {
  readonly #url: string;
  #reading: { at: number; bankMs: number; wireMs: number; scale: number } | undefined;
  #pending: Promise<void> | undefined;

  constructor(apiUrl: string) {
    this.#url = `${apiUrl.replace(/\/+$/, "")}/sandbox/clock`;
  }

  async now(): Promise<ClockReading> {
    const age = this.#reading === undefined ? Infinity : Date.now() - this.#reading.at;
    if (age >= READING_VALID_MS) {
      this.#pending ??= this.#read().finally(() => {
        this.#pending = undefined;
      });
      await this.#pending;
    }
    const reading = this.#reading;
    if (reading === undefined) throw new Error("the sandbox's clock was not read");
    const realMs = Date.now();
    const elapsed = realMs - reading.at;
    return {
      businessMs: reading.bankMs + elapsed * reading.scale,
      serviceMs: reading.wireMs + elapsed,
      serviceHeard: true,
      scale: reading.scale,
      sandbox: true,
      realMs,
    };
  }

  observeServiceDate(): void {
    // The clock endpoint is more exact than a header of whole seconds.
  }

  async #read(): Promise<void> {
    const { statusCode, body } = await request(this.#url, {
      headersTimeout: 5_000,
      bodyTimeout: 5_000,
    });
    const text = await body.text();
    if (statusCode !== 200) {
      throw new Error(`${this.#url} answered ${statusCode}; the profile says sandbox: true`);
    }
    const clock = sandboxClockSchema.parse(JSON.parse(text));
    this.#reading = {
      at: Date.now(),
      bankMs: Date.parse(clock.bank),
      wireMs: Date.parse(clock.wire),
      scale: clock.scale,
    };
  }
}

/** The service's time in whole milliseconds; null where it can't be read now. */
export async function serviceTimeMs(clock: BusinessClock): Promise<number | null> {
  const now = await clock.now().catch(() => undefined);
  return now === undefined ? null : Math.floor(now.serviceMs);
}

/** One clock for each business, shared by everything in this process. */
export class Clocks {
  readonly #clocks = new Map<string, { readonly key: string; readonly clock: BusinessClock }>();

  of(profile: BusinessProfile): BusinessClock {
    const key = profile.sandbox ? profile.apiUrl : "";
    const known = this.#clocks.get(profile.name);
    if (known?.key === key) return known.clock;
    const clock = profile.sandbox ? new SandboxClock(profile.apiUrl) : new RealClock();
    this.#clocks.set(profile.name, { key, clock });
    return clock;
  }
}
