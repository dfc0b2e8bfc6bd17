import { webhooksBack, webhooksPaused, webhooksResumed } from "../domain/facts/businesses.ts";
import { record } from "../store/facts/record.ts";
import { PAYRUN } from "../contracts/authors.ts";
import { HOUR_MS } from "../contracts/durations.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { PaymentsApiError } from "../payments-api/index.ts";
import type { Delivery } from "../payments-api/schemas/delivery.ts";
import type { WebhookEndpoint } from "../payments-api/schemas/webhook-endpoint.ts";
import { reasonOf } from "../process/repeat.ts";
import { listNotices } from "../store/notices/notices.ts";
import type { ActionContext } from "../actions/context.ts";

const { kind: KIND } = webhooksPaused;

/** The service pauses an endpoint after this many deliveries in a row have failed. */
const FAILED_IN_A_ROW = 20;

/** How often the service is asked to resume an endpoint that is paused again and again. */
const AGAIN_AFTER_MS = HOUR_MS;

type Resuming = Pick<ActionContext, "store" | "clientOf" | "log" | "nowMs">;

/** A pause of an endpoint, named by the last delivery that arrived before it. */
interface Pause {
  readonly endpoint: WebhookEndpoint;
  readonly factKey: string;
  /** False if the service doesn't show the state, and every recent delivery has failed. */
  readonly isShown: boolean;
}

/**
 * Keeps the service sending webhooks to our endpoint: resumes the endpoint if it is paused, and
 * notifies people, once a pause, if that doesn't help.
 */
export class PausedEndpoints {
  readonly #context: Resuming;
  /** When the service was last asked to resume each endpoint, by the endpoint's id. */
  readonly #asked = new Map<string, { readonly factKey: string; readonly atMs: number }>();

  constructor(context: Resuming) {
    this.#context = context;
  }

  /** @param latest newest deliveries of the endpoint, newest first */
  async look(
    profile: BusinessProfile,
    endpoint: WebhookEndpoint,
    latest: readonly Delivery[],
  ): Promise<void> {
    const arrived = latest.find(({ status }) => status === "succeeded")?.id ?? "none";
    const factKey = `${endpoint.id} after ${arrived}`;
    const isShown = typeof endpoint.status === "string";
    if (isShown ? endpoint.status === "paused" : allFailed(latest)) {
      return this.#resume(profile, { endpoint, factKey, isShown });
    }
    await this.#notifyOver(profile, endpoint, factKey);
  }

  async #resume(profile: BusinessProfile, pause: Pause): Promise<void> {
    const { nowMs } = this.#context;
    const { endpoint, factKey, isShown } = pause;
    const before = this.#asked.get(endpoint.id);
    const isRepeated = before?.factKey === factKey;
    if (isRepeated)
      await this.#notify(
        profile,
        pause,
        "Payrun had it resumed, and it was paused again before anything arrived.",
      );
    if (isRepeated && nowMs() - before.atMs < AGAIN_AFTER_MS) return;
    this.#asked.set(endpoint.id, { factKey, atMs: nowMs() });
    const asked = await this.#ask(profile, endpoint);
    if ("problem" in asked) {
      return this.#notify(profile, pause, `Payrun could not resume it: ${asked.problem}.`);
    }
    await this.#noteResumed(profile, endpoint);
    if (isShown && asked.status === "active") return;
    const outcome = "Payrun asked the service to resume it, which has not shown yet that it does.";
    await this.#notify(profile, pause, outcome);
  }

  async #ask(
    profile: BusinessProfile,
    { id }: WebhookEndpoint,
  ): Promise<{ readonly status: string | null | undefined } | { readonly problem: string }> {
    const { webhookEndpoints } = this.#context.clientOf(profile);
    try {
      const { status } = await webhookEndpoints.update(id, { status: "active" });
      return { status };
    } catch (error) {
      const isRefused = error instanceof PaymentsApiError && error.status === 403;
      const hint = isRefused ? " (the token needs webhooks:manage)" : "";
      return { problem: `${reasonOf(error)}${hint}` };
    }
  }

  async #noteResumed(
    { businessId, name: business }: BusinessProfile,
    { id: subject, url }: WebhookEndpoint,
  ): Promise<void> {
    const { store, log, nowMs } = this.#context;
    log.warn("asked the service to resume our webhook endpoint", { business, endpoint: subject });
    const head = { businessId, nowMs: nowMs(), by: PAYRUN, subject };
    await store.transactionOf(businessId, (trx) => record(trx, webhooksResumed(head, { url })));
  }

  async #notify(
    { businessId, name: business }: BusinessProfile,
    { endpoint, factKey, isShown }: Pause,
    outcome: string,
  ): Promise<void> {
    const { store, log, nowMs } = this.#context;
    const { id, url } = endpoint;
    const pause = { id, url, factKey, isShown, outcome };
    const isNews = await store.transactionOf(businessId, (trx) =>
      record(trx, webhooksPaused({ businessId, nowMs: nowMs() }, pause)),
    );
    if (isNews) log.warn("our webhook endpoint is paused", { business, endpoint: id, outcome });
  }

  /** Notifies people that a pause is over, which only an arrival since then shows. */
  async #notifyOver(
    { businessId }: BusinessProfile,
    { id, url }: WebhookEndpoint,
    factKey: string,
  ): Promise<void> {
    const { store, nowMs } = this.#context;
    const notices = await listNotices(store.db, { businessId, kind: KIND, limit: 20 });
    const last = notices.find(({ data }) => data["endpointId"] === id);
    if (last?.data["state"] !== "paused" || last.factKey === factKey) return;
    const back = { id, url, factKey: last.factKey };
    await store.transactionOf(businessId, (trx) =>
      record(trx, webhooksBack({ businessId, nowMs: nowMs() }, back)),
    );
  }
}

function allFailed(latest: readonly Delivery[]): boolean {
  const ended = latest.filter(({ status }) => status === "succeeded" || isFailed(status));
  const last = ended.slice(0, FAILED_IN_A_ROW);
  return last.length === FAILED_IN_A_ROW && last.every(({ status }) => isFailed(status));
}

function isFailed(status: string | null): boolean {
  return status === "failed" || status === "dead";
}
