import { createHmac } from "node:crypto";
import type { World } from "../world/world.ts";
import type { BankClock } from "./bank-clock.ts";
import type { Endpoint } from "./endpoint.ts";
import type { FaultPlan } from "./kinds.ts";

/** Delivers a webhook to any gateway. @returns the status; undefined if none answered */
export type Deliver = (
  body: string,
  headers: Readonly<Record<string, string>>,
) => Promise<number | undefined>;

const RETRIES_MOST = 6;
const FIRST_RETRY_MS = 60_000;

/** One event on its way. */
interface Sent {
  readonly eventId: string;
  readonly body: string;
  /** Called with the result of the delivery. */
  readonly ended: (hasArrived: boolean) => void;
}

/** The service's events: lost, doubled, late, early and out of order, by its faults. */
export class Webhooks {
  readonly #world: World;
  readonly #faults: FaultPlan;
  readonly #clock: BankClock;
  readonly #secret: string;
  readonly #deliver: Deliver;
  readonly #endpoint: Endpoint;
  #sequence = 0;
  /** Called after each answer of 2xx. */
  atAcknowledged: ((eventId: string) => void) | undefined;

  constructor(
    world: World,
    parts: {
      readonly faults: FaultPlan;
      readonly clock: BankClock;
      readonly secret: string;
      readonly deliver: Deliver;
      readonly endpoint: Endpoint;
    },
  ) {
    this.#world = world;
    this.#faults = parts.faults;
    this.#clock = parts.clock;
    this.#secret = parts.secret;
    this.#deliver = parts.deliver;
    this.#endpoint = parts.endpoint;
  }

  emit(type: string, object: string, id: string): void {
    this.#sequence += 1;
    const eventId = `evt_${this.#sequence}`;
    const body = JSON.stringify({
      id: eventId,
      type,
      sequence: String(this.#sequence),
      createdAt: new Date(this.#clock.nowMs()).toISOString(),
      businessId: "biz_1",
      data: { object, id },
    });
    if (this.#endpoint.isPaused) return;
    const delivery = this.#endpoint.deliver(eventId, body, this.#world.nowMs);
    if (this.#faults.strikes("webhooks-lost", 0.5)) {
      this.#endpoint.ended(delivery, false);
      return;
    }
    const ended = (hasArrived: boolean): void => this.#endpoint.ended(delivery, hasArrived);
    const copies = this.#faults.strikes("webhooks-doubled", 0.4) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const isLate = this.#faults.strikes("webhooks-late", 0.5);
      const lots = this.#faults.stream("webhooks-late");
      const afterMs = isLate ? lots.stretched(1_000, 3_600_000) : 200 + 300 * copy;
      this.#later(afterMs, { eventId, body, ended }, 0);
    }
  }

  #later(afterMs: number, event: Sent, tries: number): void {
    this.#world.later(afterMs, "webhook", () => {
      this.#send(event, tries).catch((error: unknown) => {
        this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
      });
    });
  }

  async #send(event: Sent, tries: number): Promise<void> {
    const { eventId, body, ended } = event;
    const seconds = Math.floor(this.#clock.wireMs() / 1_000);
    const mac = createHmac("sha256", this.#secret).update(`${seconds}.${body}`).digest("hex");
    const status = await this.#deliver(body, {
      "content-type": "application/json",
      "service-signature": `t=${seconds},v1=${mac}`,
      "service-event-id": eventId,
    });
    if (status !== undefined && status < 300) {
      ended(true);
      this.atAcknowledged?.(eventId);
      return;
    }
    if (tries < RETRIES_MOST) this.#later(FIRST_RETRY_MS * 2 ** tries, event, tries + 1);
    else ended(false);
  }
}
