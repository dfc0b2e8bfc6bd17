import { expect } from "vitest";
import { type MoneyWorld, type PlannedBills, test as moneyTest } from "./money-world.ts";

/** Runs whose payments fail under a playbook's default rules. */
class BounceScene {
  readonly world: MoneyWorld;

  constructor(world: MoneyWorld) {
    this.world = world;
  }

  /** Creates a run whose payments have all failed and whose retries have made one look. */
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

export const test = moneyTest
  .extend("world", async ({ world }) => {
    // The playbook's default rules: a bounce pauses the account, a vendor's return holds the
    // vendor.
    await world.failurePlaybook("kind: retry-failed\n");
    world.achAuthorization = { acceptedBy: "A. Owner", acceptedAt: "2026-01-05" };
    return world;
  })
  .extend("scene", ({ world }) => new BounceScene(world));
