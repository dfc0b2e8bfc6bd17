import type { TestSandbox } from "../../support/sandbox.ts";
import { unique } from "../world.ts";

export type Kind = "deposits" | "withdrawals";

/** The fields of a deposit or withdrawal that the tests of transfers read. */
export interface Transfer {
  id: string;
  type: string;
  status: string;
  amountCents: number;
  sameDay: boolean;
  failureReason: string | null;
  processedAt: string | null;
}

/** Requests a deposit or withdrawal; no key is sent if `key` is null. */
export function send(
  sandbox: TestSandbox,
  bankAccountId: string,
  kind: Kind,
  body: object,
  key: string | null = unique("transfer"),
) {
  return sandbox.api<Transfer & Record<string, unknown>>("POST", `/v1/balance/${kind}`, {
    body: { bankAccountId, ...body },
    ...(key !== null && { key }),
  });
}
