import type { ErrorFacts } from "./facts.ts";

const WAIT = "Send the request again after `Retry-After`.";
const OPERATOR = "Tell whoever runs Payrun; then send the request again.";

/** What failed, or can't be reached. */
export const OUTAGE_ERRORS = {
  internal_error: {
    status: 500,
    means: "Something failed in the gateway; its log says what, under the `X-Request-Id`.",
    remedy: OPERATOR,
  },
  plan_missing: {
    status: 500,
    means: "The planner ended without storing its plan.",
    remedy: OPERATOR,
  },
  api_unavailable: {
    status: 502,
    means: "The Payments Service didn't answer as expected, or refused Payrun's token.",
    remedy: OPERATOR,
  },
  provider_unreachable: {
    status: 502,
    means: "The identity provider can't be reached.",
    remedy: "Sign in later, or by a link (`payrun login`).",
  },
  service_unreachable: {
    status: 503,
    means: "The Payments Service can't be reached.",
    remedy: WAIT,
  },
  clock_unreachable: {
    status: 503,
    means: "The sandbox's clock can't be read.",
    remedy: WAIT,
  },
  temporal_unreachable: {
    status: 503,
    means: "Temporal can't be reached, or takes nothing right now.",
    remedy: WAIT,
  },
  temporal_namespace_missing: {
    status: 503,
    means: "Temporal lacks the namespace.",
    remedy: OPERATOR,
  },
  search_attributes_missing: {
    status: 503,
    means: "Temporal doesn't know Payrun's search attributes yet; a worker registers them.",
    remedy: WAIT,
  },
  encryption_keys_missing: {
    status: 503,
    means: "The gateway has no key for personal data.",
    remedy: OPERATOR,
  },
  store_busy: {
    status: 503,
    means: "The store has not taken a webhook in time.",
    remedy: "Deliver it again.",
  },
  store_missing: {
    status: 503,
    means: "There is no store.",
    remedy: OPERATOR,
  },
  store_foreign: {
    status: 503,
    means: "The store's database belongs to something else.",
    remedy: OPERATOR,
  },
  store_incompatible: {
    status: 503,
    means: "Another version of Payrun made the store.",
    remedy: OPERATOR,
  },
  store_locked: {
    status: 503,
    means: "Another process keeps the store locked; nothing was written.",
    remedy: WAIT,
  },
  store_replaced: {
    status: 503,
    means: "The store's file was deleted or replaced.",
    remedy: OPERATOR,
  },
  store_corrupt: {
    status: 503,
    means: "The store's file is damaged.",
    remedy: OPERATOR,
  },
  store_unreadable: {
    status: 503,
    means: "The store's file can't be opened.",
    remedy: OPERATOR,
  },
  store_unsupported: {
    status: 503,
    means: "This version can't use such a database.",
    remedy: OPERATOR,
  },
  store_unreachable: {
    status: 503,
    means: "The store's server doesn't answer.",
    remedy: WAIT,
  },
  store_refused: {
    status: 503,
    means: "The store's server refuses the user or its writes.",
    remedy: OPERATOR,
  },
  store_full: {
    status: 503,
    means: "The store's disk is full; nothing was written.",
    remedy: OPERATOR,
  },
  store_read_only: {
    status: 503,
    means: "The store is read-only; nothing was written.",
    remedy: WAIT,
  },
  store_failing: {
    status: 503,
    means: "The store fails; nothing was written.",
    remedy: OPERATOR,
  },
  plan_timeout: {
    status: 504,
    means: "No worker finished the plan in time.",
    remedy: "See that a worker runs (`payrun worker`), then ask again.",
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;
