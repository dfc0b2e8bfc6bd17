import type { ErrorFacts } from "./facts.ts";

const WAIT = "Send the request again after `Retry-After`.";

/** What is wrong with a request, its sender or its key, whatever it asks for. */
export const REQUEST_ERRORS = {
  validation_error: {
    status: 400,
    means: "A field, a parameter or a header is missing, unknown or malformed.",
    remedy: "Correct what `details` names.",
  },
  malformed_json: {
    status: 400,
    means: "The body is not JSON in UTF-8.",
    remedy: "Send JSON.",
  },
  incomplete_body: {
    status: 400,
    means: "The body broke off before its end.",
    remedy: "Send the request again.",
  },
  bad_request: {
    status: 400,
    means: "The request is not valid HTTP for the gateway.",
    remedy: "Correct what `message` names.",
  },
  malformed_event: {
    status: 400,
    means: "A webhook's body is not an event.",
    remedy: "Send the event as the Payments Service writes it.",
  },
  wrong_business: {
    status: 400,
    means: "A webhook's event belongs to another business than its address names.",
    remedy: "Correct the endpoint's address at the Payments Service.",
  },
  unauthorized: {
    status: 401,
    means: "The token is missing, unknown, unconfirmed, expired or revoked.",
    remedy: "Send `Authorization: Bearer TOKEN` with a token that counts.",
  },
  signed_out: {
    status: 401,
    means: "Nobody is signed in at the console, or no longer.",
    remedy: "Sign in again.",
  },
  sign_in_refused: {
    status: 401,
    means: "The identity provider's answer signs nobody in.",
    remedy: "Sign in again.",
  },
  invalid_signature: {
    status: 401,
    means: "A webhook's signature is missing, out of date or wrong.",
    remedy: "Compare the endpoint's secret with the profile's `webhookSecrets`.",
  },
  forbidden: {
    status: 403,
    means: "The token lacks the role, or covers too few businesses.",
    remedy: "Use a token with what `message` names.",
  },
  unknown_identity: {
    status: 403,
    means: "No profile names the person who signed in at an identity provider.",
    remedy: "Add the identity to a profile.",
  },
  form_outdated: {
    status: 403,
    means: "A form of the console was made for another sign-in; nothing was done.",
    remedy: "Load the page again.",
  },
  foreign_form: {
    status: 403,
    means: "A form came from a page that isn't the console's; nothing was done.",
    remedy: "Open the console at `PAYRUN_PUBLIC_URL`.",
  },
  not_found: {
    status: 404,
    means: "What is named doesn't exist, or the token doesn't cover it.",
    remedy: "Correct the id; ids in paths are URL-encoded.",
  },
  idempotency_key_reused: {
    status: 409,
    means: "The `Idempotency-Key` came with another request; nothing was done.",
    remedy: "Take a new key for a new request.",
  },
  too_many_keys: {
    status: 409,
    means: "Requests with an `Idempotency-Key` of this caller fill what is kept; nothing was done.",
    remedy: "Send it without a key, or after `Retry-After`; take one key for one intention.",
  },
  in_progress: {
    status: 409,
    means: "The same request is being carried out.",
    remedy: WAIT,
  },
  secret_shown_once: {
    status: 409,
    means: "The first answer had a secret, which is stored nowhere; `details.id` names the token.",
    remedy: "Make another token if its secret was lost.",
  },
  answer_lost: {
    status: 409,
    means: "The request took effect, and its answer was lost.",
    remedy: "Look at how things stand, and ask for what is still missing.",
  },
  too_large: {
    status: 413,
    means: "The body is too large.",
    remedy: "Send less at once; `message` has the limit.",
  },
  unsupported_media_type: {
    status: 415,
    means: "The body is of another type.",
    remedy: "Send `Content-Type: application/json`.",
  },
  too_many_requests: {
    status: 429,
    means: "Too many requests at once.",
    remedy: WAIT,
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;
