import { expect, test, vi } from "vitest";
import type { Manner } from "../../../bench/run/bad-manners.ts";
import { POOLS } from "../../../src/domain/places.ts";
import { StubPayrun } from "../../support/stub-payrun.ts";

vi.setConfig({ testTimeout: 300_000 });

/** Enough for runs of each service to wait for their turn. */
const RUNS_OF_EACH = 2 * POOLS.planning.share;

/** What a service may see at once: eight pages for each plan, and a gateway's look for webhooks. */
const REQUESTS_MOST = POOLS.planning.share * 8 + 1;

const playbook = (business: string): string => `kind: pay-run
business: ${business}
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;

test("services that drip, hang, never end and lie keep no other business from planning and paying", async () => {
  const manners: readonly Manner[] = ["drips", "hangs", "endless", "lies"];
  const named = (businessId: string) => ({
    businessId,
    token: `token-of-${businessId}`,
    bills: 30,
  });
  const bad = manners.map((manner) => ({ ...named(manner), manner }));
  const payrun = await StubPayrun.start([named("sound"), ...bad]);
  try {
    const runs = new Map<Manner, string[]>();
    for (const manner of manners) {
      for (let run = 1; run <= RUNS_OF_EACH; run += 1) {
        await payrun.apply(`${manner}-${run}`, playbook(manner));
        const launched = await payrun.launch(`${manner}-${run}`);
        runs.set(manner, [...(runs.get(manner) ?? []), launched]);
      }
    }
    const waits = async (manner: Manner): Promise<string[]> => {
      const shown = (runs.get(manner) ?? []).map((runId) => payrun.status(runId));
      return (await Promise.all(shown)).map(({ waitingFor }) => waitingFor ?? "");
    };
    const wait = { timeout: 120_000, interval: 500 };
    // Each bad service is at work, and its runs say what they wait for.
    for (const manner of ["drips", "endless"] as const) {
      await expect
        .poll(() => waits(manner), wait)
        .toContainEqual(expect.stringMatching(/^its turn/));
    }
    await expect
      .poll(() => waits("lies"), wait)
      .toContainEqual(expect.stringContaining("gets longer as fast as it is read"));

    const sound = await payrun.approvedRun("sound", playbook("sound"));
    const done = await payrun.untilPhase(sound, "completed", 120_000);
    expect(done.counts).toEqual({ settled: 30 });
    expect(await payrun.figures("sound")).toMatchObject({ paidBills: 30, paidMoreThanOnce: 0 });

    for (const manner of manners) {
      const { mostWaiting, pays } = await payrun.figures(manner);
      expect(mostWaiting).toBeLessThanOrEqual(REQUESTS_MOST);
      expect(pays).toBe(0);
    }
  } finally {
    await payrun.stop();
  }
});
