/** What the service has sent to the endpoint, or could not. */
interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly requestBody: string;
  readonly madeMs: number;
  status: "pending" | "succeeded" | "dead";
}

/** The service pauses an endpoint after so many deliveries in a row have failed. */
const FAILED_IN_A_ROW = 20;

/** The company's webhook endpoint, with all that was delivered to it. */
export class Endpoint {
  /** False where the service shows none, though it delivers. */
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

  /** A delivery has come to its end; nothing takes back that it arrived. */
  ended(delivery: Delivery, hasArrived: boolean): void {
    if (delivery.status === "succeeded") return;
    delivery.status = hasArrived ? "succeeded" : "dead";
    const last = this.#deliveries.filter(({ status }) => status !== "pending");
    const failed = last.slice(-FAILED_IN_A_ROW).filter(({ status }) => status === "dead");
    if (failed.length === FAILED_IN_A_ROW) this.pause();
  }

  /** Events that were made by then: each is in the list of what was delivered. */
  eventsUntil(ms: number): string[] {
    return this.#deliveries.filter(({ madeMs }) => madeMs <= ms).map(({ eventId }) => eventId);
  }

  /** As the service lists endpoints. */
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

  /** Newest first. */
  deliveries(): object[] {
    return this.#deliveries.toReversed().map(({ id, status, requestBody, madeMs }) => ({
      ...{ id, status, requestBody },
      createdAt: new Date(madeMs).toISOString(),
    }));
  }
}
