import type { Requester } from "../requester.ts";
import { type Balance, balanceSchema } from "../schemas/balance.ts";
import type { CallOptions } from "../transport.ts";

/** The balance that the service holds for the business (API specification, section 4). */
export class BalanceResource {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** @throws {PaymentsApiError} `feature_unavailable`, or `setup_required` with `details.actionUrl`. */
  get(options?: CallOptions): Promise<Balance> {
    return this.#requester.read("/v1/balance", balanceSchema, options);
  }
}
