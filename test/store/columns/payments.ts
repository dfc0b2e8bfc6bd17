import type { Columns } from "./columns.ts";

export const paymentColumns: Columns<"claims" | "holds" | "business_waits"> = {
  claims: {
    business_id: true,
    payable_id: true,
    owner: true,
    claimed_at_ms: true,
  },
  holds: {
    hold_id: true,
    business_id: true,
    scope: true,
    value: true,
    reason: true,
    author: true,
    author_kind: true,
    roles: true,
    created_at_ms: true,
    until_ms: true,
    released_at_ms: true,
    released_by: true,
    released_by_kind: true,
  },
  business_waits: {
    business_id: true,
    source_id: true,
    code: true,
    message: true,
    since_ms: true,
    retry_at_ms: true,
    tries: true,
  },
};
