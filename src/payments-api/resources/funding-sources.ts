import type { Requester } from "../requester.ts";
import { type FundingSource, fundingSourceListSchema } from "../schemas/funding-source.ts";
import type { CallOptions } from "../transport.ts";

/** The sources that payments can be funded from (API specification, section 4). */
export class FundingSources {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** Lists all of them, the default rail's first; this list has no pages. */
  async list(options?: CallOptions): Promise<FundingSource[]> {
    const answer = await this.#requester.read(
      "/v1/funding-sources",
      fundingSourceListSchema,
      options,
    );
    return answer.items;
  }
}
