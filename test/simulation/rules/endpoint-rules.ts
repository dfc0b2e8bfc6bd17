import type { Endpoint } from "../service/endpoint.ts";
import type { StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/**
 * If the service lists its deliveries, each event is found in the end, however it was lost; a
 * paused endpoint is resumed, or people know of it.
 *
 * @param madeByMs later events of the service need not have been found yet
 */
export function checkEndpoint(facts: StoreFacts, endpoint: Endpoint, madeByMs: number): void {
  if (!endpoint.isListed) return;
  const lost = endpoint.eventsUntil(madeByMs).find((eventId) => !facts.hasEvent(eventId));
  if (lost !== undefined) {
    throw new Violation("lost-events-are-found", `${lost} was lost, and nobody has found it`);
  }
  if (!endpoint.isPaused || facts.isToldOf("webhooks-paused")) return;
  const what = "the webhook endpoint is paused in the end, and nobody was told";
  throw new Violation("paused-endpoints-go-on", what);
}
