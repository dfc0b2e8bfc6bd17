import { emptyTables, transaction } from "../db.ts";
import { forgetPayableTexts } from "../resources/payable-search.ts";
import { invalid } from "../http/api-error.ts";
import { endpointsOf } from "../webhooks/endpoints.ts";
import type { FixtureObject } from "../fixtures/fixture-object.ts";
import type { ServiceParts } from "../http/pipeline.ts";
import { allBusinesses } from "../resources/businesses.ts";
import { loadFixture } from "./load-fixture.ts";

/** A business as `POST /sandbox/reset` and the ready line show it. */
export interface FreshBusiness {
  businessId: string;
  token: string;
  webhookEndpoints: { id: string; url: string; secret: string }[];
}

/** Forgets everything and starts over; requests that arrive meanwhile wait until it is done. */
export class Resetting {
  readonly #parts: ServiceParts;
  #underWay: Promise<void> = Promise.resolve();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** Resolves once no reset is under way. */
  get done(): Promise<void> {
    return this.#underWay;
  }

  /**
   * Empties all tables, sets both clocks to real time and loads a fixture.
   *
   * @throws {ApiError} if the fixture contradicts itself; nothing has been forgotten then.
   */
  async reset(fixture: FixtureObject): Promise<FreshBusiness[]> {
    await this.#underWay;
    const { ctx, faults, log } = this.#parts;
    const nowMs = Date.now();
    const ids = transaction(ctx.db, () => {
      emptyTables(ctx.db, ["clock"]);
      forgetPayableTexts(ctx.db);
      return refusingTwins(() => loadFixture(ctx, fixture, nowMs));
    });
    ctx.clock.reset();
    log.clear();
    faults.load();
    this.#underWay = ctx.bank.flush();
    await this.#underWay;
    return this.#presented(ids);
  }

  /**
   * Returns the businesses as they are now, each with a new token, in the order of their creation.
   */
  businesses(): Promise<FreshBusiness[]> {
    return this.#presented(allBusinesses(this.#parts.ctx.db).map(({ id }) => id));
  }

  #presented(ids: readonly string[]): Promise<FreshBusiness[]> {
    const { ctx, tokens } = this.#parts;
    return Promise.all(
      ids.map(async (businessId) => ({
        businessId,
        token: await tokens.mint(businessId),
        webhookEndpoints: endpointsOf(ctx.db, businessId).map(({ id, url, secret }) => ({
          id,
          url,
          secret,
        })),
      })),
    );
  }
}

/** @throws {ApiError} 422 if a fixture gives one id to two things. */
function refusingTwins<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    const twin =
      error instanceof Error ? /UNIQUE constraint failed: (\S+)/.exec(error.message) : null;
    if (twin === null) throw error;
    throw invalid("fixture", `The fixture gives two things the same ${twin[1]}`);
  }
}
