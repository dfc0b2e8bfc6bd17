import { describe, expect, test } from "vitest";
import { dieAt, slow, untilIs } from "../support/deaths.ts";
import { keepHistory } from "../support/keep-history.ts";
import {
  DATA,
  kybWrites,
  ONBOARDING_ID,
  provide,
  reviewed,
  untilOnboarding,
  untilWaitsIn,
} from "../support/onboarding.ts";
import { stacks } from "../support/stack.ts";

describe("an onboarding", () => {
  const start = stacks();

  test("an onboarding sends no step twice, whenever its worker dies", async () => {
    const other = await start({ fixture: "unverified", worker: false });
    const { control } = other.sandbox;
    await other.apply("kyb", "kind: kyb-onboarding\n");
    await other.launch("kyb");
    // All steps are provided before a worker runs: each waits for its turn.
    for (const step of ["tax", "signature", "officers", "certification"] as const) {
      expect((await provide(other, step, DATA[step])).status).toBe(202);
    }
    const write = (method: string, path: string) =>
      slow(method, `/api/businesses/*/${path}`, "after");
    await dieAt(other, [
      {
        when: "between the tax id's arrival and its record",
        faults: [write("PATCH", "tax")],
        begin: () => Promise.resolve(),
        reached: () =>
          untilIs(async () => (await reviewed(other)).verification.steps["tax"], "submitted"),
      },
      {
        when: "between an officer's arrival and its record",
        inShort: true,
        faults: [write("POST", "officers")],
        begin: () => Promise.resolve(),
        reached: () => untilIs(async () => (await reviewed(other)).officers.length, 1),
      },
      {
        when: "in the review",
        begin: () => Promise.resolve(),
        reached: () => untilWaitsIn(other, "review"),
      },
    ]);
    await untilWaitsIn(other, "review");
    await control.changeBusiness({ verification: "verified" });
    const done = await untilOnboarding(other, "ended", ({ ended }) => ended);
    expect(done.phase).toBe("verified");
    expect(new Set(done.provided.map(({ state }) => state))).toEqual(new Set(["done"]));
    expect((await kybWrites(other)).toSorted()).toEqual([
      "PATCH /tax",
      "PATCH /tax/signature",
      "POST /officers",
      "POST /officers",
      "POST /officers/certify-beneficial-ownership",
    ]);
    expect((await reviewed(other)).officers).toHaveLength(2);
    await keepHistory(other, ONBOARDING_ID, "kyb-onboarding-worker-killed");
  });
});
