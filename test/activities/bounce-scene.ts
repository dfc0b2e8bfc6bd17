import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { MoneyWorld, type PlannedBills } from "./money-world.ts";

/** Runs whose payments fail, with the default rules of a playbook; each test begins anew. */
export function bounceScene(): BounceScene {
  const scene = new BounceScene();
  beforeAll(() => scene.start());
  afterAll(() => scene.world.stop());
  beforeEach(() => scene.reset());
  return scene;
}

class BounceScene {
  #world: MoneyWorld | undefined;

  get world(): MoneyWorld {
    if (this.#world === undefined) throw new Error("not started");
    return this.#world;
  }

  async start(): Promise<void> {
    this.#world = await MoneyWorld.start();
    // Its default rules: a bounce pauses the account, a vendor's return holds the vendor.
    await this.#world.failurePlaybook("kind: retry-failed\n");
  }

  async reset(): Promise<void> {
    const { world } = this;
    await world.world.reset();
    world.told.length = 0;
    world.override = {};
    await world.store.db.deleteFrom("holds").execute();
    await world.store.db.deleteFrom("incidents").execute();
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
  }

  /** A run all of whose payments failed, handed to their retries, which have looked once. */
  async failedRun(codes: readonly string[]): Promise<PlannedBills> {
    const { world } = this;
    const bills = codes.map((_, index) => ({ contactId: index === 0 ? "v1" : "v2" }));
    const planned = await world.approvedRun(bills);
    const { payableIds, runId } = planned;
    for (const [index, code] of codes.entries()) {
      const match = { payableId: payableIds[index] ?? "" };
      await world.control.outcome({ match, outcome: "fail", code, times: 1 });
    }
    await world.pay(runId);
    await world.control.advance("P9D");
    expect(await world.follow(runId)).toBe(codes.length);
    for (const payableId of payableIds) await world.look(payableId);
    return planned;
  }

  async sourceOf({ runId, payableId }: PlannedBills): Promise<string> {
    return (await this.world.line(runId, payableId)).sourceId;
  }
}
