import { errors, request } from "undici";
import { z } from "zod";
import { WaysOut } from "../outgoing/ways-out.ts";
import { type BusinessClock, ClockReading } from "./clock.ts";

/** An instant in a year that calendars, and the days after it, can count with. */
const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => /^(?:19|2\d)\d\d-/.test(text), "not in a year from 1900 to 2999");

const sandboxClockSchema = z.object({ bank: instant, wire: instant, scale: z.number().positive() });

const ways = new WaysOut();

const TIMEOUT_MS = 5_000;

/** A reading is off by as long as its response took, and by this much. */
const READING_OFF_MS = 50;

interface SandboxReading {
  /** Real instants between which it was true. */
  readonly askedMs: number;
  readonly at: number;
  readonly bankMs: number;
  readonly wireMs: number;
  readonly scale: number;
}

/** True if a clock can't just have run on from one reading to the next. */
function isStep(last: SandboxReading, next: SandboxReading): boolean {
  const least = next.askedMs - last.at - READING_OFF_MS;
  const most = next.at - last.askedMs + READING_OFF_MS;
  const ran = [(next.bankMs - last.bankMs) / last.scale, next.wireMs - last.wireMs];
  return last.scale !== next.scale || ran.some((ms) => ms < least || ms > most);
}

/** How long our own clock carries on from one reading of the sandbox's clocks. */
const READING_VALID_MS = 1_000;

/** The sandbox's clocks, read again every second, so that a stepped clock is noticed. */
export class SandboxClock implements BusinessClock {
  readonly #url: string;
  readonly #zone: string | undefined;
  #reading: SandboxReading | undefined;
  /** True at first: what happened before this process's first reading is unknown. */
  #hasMoved = true;
  #pending: Promise<void> | undefined;

  constructor(apiUrl: string, zone?: string) {
    this.#zone = zone;
    this.#url = `${apiUrl.replace(/\/+$/, "")}/sandbox/clock`;
  }

  async now(): Promise<ClockReading> {
    const age = this.#reading === undefined ? Infinity : Date.now() - this.#reading.at;
    if (age >= READING_VALID_MS) await this.#readOnce();
    const reading = this.#reading;
    if (reading === undefined) throw new Error("the sandbox's clock was not read");
    const realMs = Date.now();
    const elapsed = realMs - reading.at;
    return new ClockReading({
      businessMs: reading.bankMs + elapsed * reading.scale,
      serviceMs: reading.wireMs + elapsed,
      serviceOffMs: reading.at - reading.askedMs,
      serviceHeard: true,
      scale: reading.scale,
      sandbox: true,
      realMs,
      zone: this.#zone,
    });
  }

  async readAnew(): Promise<ClockReading> {
    // A reading that is under way may have been answered before this call.
    await this.#pending?.catch(() => undefined);
    await this.#readOnce();
    return this.now();
  }

  observeServiceDate(): void {
    // The clock endpoint is more exact than a header of whole seconds.
  }

  async hasMoved(): Promise<boolean> {
    await this.#readOnce();
    const hasMoved = this.#hasMoved;
    this.#hasMoved = false;
    return hasMoved;
  }

  #readOnce(): Promise<void> {
    this.#pending ??= this.#read().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #ask(): Promise<{ readonly statusCode: number; readonly text: string }> {
    const { statusCode, body } = await request(this.#url, {
      dispatcher: ways.to(this.#url),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    return { statusCode, text: await body.text() };
  }

  async #read(): Promise<void> {
    const askedMs = Date.now();
    const { statusCode, text } = await this.#ask().catch((error: unknown) => {
      const isSilent =
        error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
      if (!isSilent) throw error;
      const message = `GET /sandbox/clock: no answer within ${TIMEOUT_MS} ms`;
      throw new Error(message, { cause: error });
    });
    if (statusCode !== 200) {
      throw new Error(`${this.#url} answered ${statusCode}; the profile says sandbox: true`);
    }
    const clock = sandboxClockSchema.parse(JSON.parse(text));
    const reading = {
      askedMs,
      at: Date.now(),
      bankMs: Date.parse(clock.bank),
      wireMs: Date.parse(clock.wire),
      scale: clock.scale,
    };
    if (this.#reading !== undefined && isStep(this.#reading, reading)) this.#hasMoved = true;
    this.#reading = reading;
  }
}
