import type { DatabaseSync } from "node:sqlite";
import { WaysOut } from "../../outgoing/ways-out.ts";
import type { BankAndWireClock } from "../clock/clock.ts";
import { allRows, execute, getRow, transaction } from "../db.ts";
import { attempt } from "./attempt.ts";
import { onDeliveries } from "./events.ts";
import { type FinishedAttempt, recordAttempt } from "./outcome.ts";
import { endpointById, type EndpointRow, type SentDelivery } from "./tables.ts";

/**
 * Deliveries under way at once: per endpoint, so that a slow one holds up no other, and in total.
 */
const perEndpoint = 48;
const inAll = 192;
/**
 * More than an endpoint's share, because the endpoints of several businesses may share an origin.
 */
const connectionsPerOrigin = 128;
const longestSleepMs = 30_000;

/**
 * Sends the deliveries that are due, many at once, until each has succeeded or used up its
 * attempts.
 *
 * All its state is in the database: deliveries and their back-off go on after a restart. An attempt
 * that was cut off by the end of the process is made again and does not count.
 */
export class WebhookDeliverer {
  readonly #db: DatabaseSync;
  readonly #clock: BankAndWireClock;
  readonly #ways = new WaysOut({ connections: connectionsPerOrigin, pipelining: 1 });
  readonly #giveUp = new AbortController();
  readonly #underWay = new Map<string, number>();
  readonly #finished: FinishedAttempt[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopListening: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #stopped = false;

  /** @param options the service's database, with `webhooksDdl` applied, and its clock. */
  constructor(options: { db: DatabaseSync; clock: BankAndWireClock }) {
    this.#db = options.db;
    this.#clock = options.clock;
  }

  /** Resumes what an earlier process left, and listens for new deliveries and clock changes. */
  start(): void {
    execute(
      this.#db,
      `UPDATE deliveries SET attempt_count = attempt_count - 1, next_attempt_at = last_attempt_at,
         status = CASE attempt_count WHEN 1 THEN 'pending' ELSE 'failed' END
       WHERE status = 'delivering'`,
    );
    const wake = () => this.#wake();
    this.#stopListening.push(onDeliveries(this.#db, wake), this.#clock.onChange(wake));
    wake();
  }

  /** Cuts off deliveries that are under way; the next start resumes them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#giveUp.abort();
    await Promise.all(this.#running);
    transaction(this.#db, () => this.#recordFinished());
    await this.#ways.destroy();
  }

  /** Schedules one round. Not at once: many events and results of one moment make one round. */
  #wake(): void {
    if (this.#stopped) return;
    this.#immediate ??= setImmediate(() => {
      this.#immediate = undefined;
      this.#round();
    });
  }

  #round(): void {
    const due = transaction(this.#db, () => {
      this.#recordFinished();
      return this.#claimDue();
    });
    for (const { endpoint, delivery } of due) {
      const running = this.#deliver(endpoint, delivery).finally(() => {
        this.#running.delete(running);
        this.#wake();
      });
      this.#running.add(running);
    }
    this.#sleepUntilNext();
  }

  #recordFinished(): void {
    for (const finished of this.#finished.splice(0)) recordAttempt(this.#db, finished);
  }

  #claimDue(): { endpoint: EndpointRow; delivery: SentDelivery }[] {
    const wireNowMs = this.#clock.wireNow();
    const endpoints = allRows<EndpointRow>(
      this.#db,
      "SELECT * FROM webhook_endpoints WHERE status = 'active'",
    );
    const due = endpoints.flatMap((endpoint) => {
      const free = Math.min(
        perEndpoint - (this.#underWay.get(endpoint.id) ?? 0),
        inAll - this.#running.size,
      );
      if (free <= 0) return [];
      return this.#dueOf(endpoint.id, wireNowMs, free).map((delivery) => ({ endpoint, delivery }));
    });
    for (const { delivery } of due) {
      execute(
        this.#db,
        `UPDATE deliveries SET status = 'delivering', attempt_count = attempt_count + 1,
           last_attempt_at = ?, next_attempt_at = NULL WHERE id = ?`,
        wireNowMs,
        delivery.id,
      );
    }
    return due;
  }

  #dueOf(endpointId: string, wireNowMs: number, limit: number): SentDelivery[] {
    return allRows<SentDelivery>(
      this.#db,
      `SELECT deliveries.*, events.id AS event_id, events.body AS body
       FROM deliveries JOIN events ON events.seq = deliveries.event_seq
       WHERE endpoint_id = ? AND status IN ('pending', 'failed') AND next_attempt_at <= ?
         AND held_until_real <= ?
       ORDER BY next_attempt_at, deliveries.seq LIMIT ?`,
      endpointId,
      wireNowMs,
      Date.now(),
      limit,
    );
  }

  async #deliver(endpoint: EndpointRow, delivery: SentDelivery): Promise<void> {
    this.#underWay.set(endpoint.id, (this.#underWay.get(endpoint.id) ?? 0) + 1);
    const send = () =>
      attempt(
        this.#ways.to(endpoint.url),
        {
          url: endpoint.url,
          // Read again: a secret that was rotated in the meantime must not sign any more.
          secret: endpointById(this.#db, endpoint.id)?.secret ?? endpoint.secret,
          deliveryId: delivery.id,
          eventId: delivery.event_id,
          body: delivery.body,
          signedAtMs: this.#clock.wireNow(),
        },
        this.#giveUp.signal,
      );
    const result = await send();
    for (let copy = 1; copy < delivery.copies && !this.#stopped; copy += 1) await send();
    this.#underWay.set(endpoint.id, (this.#underWay.get(endpoint.id) ?? 1) - 1);
    const isCutOff = this.#stopped && !result.succeeded;
    if (isCutOff) return;
    this.#finished.push({ deliveryId: delivery.id, result, wireNowMs: this.#clock.wireNow() });
  }

  /**
   * Sets the timer for the next delivery. A delivery that is due now and found no free slot needs
   * no timer: the end of an attempt also wakes the deliverer.
   */
  #sleepUntilNext(): void {
    clearTimeout(this.#timer);
    const wireNowMs = this.#clock.wireNow();
    const next = getRow<{ ms: number | null }>(
      this.#db,
      `SELECT min((SELECT min(next_attempt_at) FROM deliveries
         WHERE endpoint_id = webhook_endpoints.id AND status IN ('pending', 'failed')
           AND next_attempt_at > ?)) AS ms
       FROM webhook_endpoints WHERE status = 'active'`,
      wireNowMs,
    );
    const held = getRow<{ ms: number | null }>(
      this.#db,
      `SELECT min(held_until_real) AS ms FROM deliveries
       WHERE status IN ('pending', 'failed') AND held_until_real > 0 AND held_until_real > ?`,
      Date.now(),
    );
    const waitsMs = [
      longestSleepMs,
      next?.ms == null ? longestSleepMs : this.#clock.realMsUntilWire(next.ms),
      held?.ms == null ? longestSleepMs : held.ms - Date.now(),
    ];
    // A millisecond more than needed, so that the delivery is due when the timer fires.
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, Math.min(...waitsMs)) + 1);
    this.#timer.unref();
  }
}
