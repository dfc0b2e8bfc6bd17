/** A delivery to the endpoint, or a failed one. */
interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly requestBody: string;
  readonly madeMs: number;
  status: "pending" | "succeeded" | "dead";
}

/** The service pauses an endpoint after this many failed deliveries in a row. */
const FAILED_IN_A_ROW = 20;

/** The company's webhook endpoint, with all its deliveries. */
export class Endpoint {
  /** False if the service does not list it, although it delivers. */
  readonly isListed: boolean;
  readonly #deliveries: Delivery[] = [];
  #isPaused = false;

  constructor(isListed: boolean) {
    this.isListed = isListed;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = this.isListed;
  }

  resume(): void {
    this.#isPaused = false;
  }

  deliver(eventId: string, requestBody: string, madeMs: number): Delivery {
    const id = `del_${this.#deliveries.length + 1}`;
    const delivery: Delivery = { id, eventId, requestBody, madeMs, status: "pending" };
    this.#deliveries.push(delivery);
    return delivery;
  }

  /** Ends a delivery; one that has arrived stays so. */
  ended(delivery: Delivery, hasArrived: boolean): void {
    if (delivery.status === "succeeded") return;
    delivery.status = hasArrived ? "succeeded" : "dead";
    const last = this.#deliveries.filter(({ status }) => status !== "pending");
    const failed = last.slice(-FAILED_IN_A_ROW).filter(({ status }) => status === "dead");
    if (failed.length === FAILED_IN_A_ROW) this.pause();
  }

  /** Returns the events that were made by then: each is in the list of deliveries. */
  eventsUntil(ms: number): string[] {
    return this.#deliveries.filter(({ madeMs }) => madeMs <= ms).map(({ eventId }) => eventId);
  }

  /** Returns the endpoint as the service lists it. */
  listed(): object[] {
    return this.isListed ? [this.json()] : [];
  }

  json(): object {
    return {
      id: "we_1",
      url: "https://payrun.test/webhooks/acme",
      events: ["*"],
      status: this.#isPaused ? "paused" : "active",
    };
  }

  /** Returns the deliveries, newest first. */
  deliveries(): object[] {
    return this.#deliveries.toReversed().map(({ id, status, requestBody, madeMs }) => ({
      ...{ id, status, requestBody },
      createdAt: new Date(madeMs).toISOString(),
    }));
  }
}
