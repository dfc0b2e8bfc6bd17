import { expect, test } from "vitest";
import {
  DATA,
  kybWrites,
  onboard,
  ONBOARDING_ID,
  provide,
  reviewed,
  untilOnboarding,
  untilWaitsIn,
} from "../support/onboarding.ts";
import { isLong } from "../support/long.ts";
import { stacks } from "../support/stack.ts";
import { resetEverywhere } from "../support/temporal-ui.ts";

const start = stacks();

test.runIf(isLong)(
  "an onboarding that is reset to any of its workflow tasks sends nothing twice, and continues",
  async () => {
    const payrun = await start({ fixture: "unverified" });
    await onboard(payrun);
    for (const step of ["tax", "signature", "officers"] as const) {
      expect((await provide(payrun, step, DATA[step])).status).toBe(202);
    }
    await untilWaitsIn(payrun, "certification");
    await resetEverywhere(payrun, ONBOARDING_ID);
    expect((await provide(payrun, "certification", DATA.certification)).status).toBe(202);
    await untilWaitsIn(payrun, "review");
    await resetEverywhere(payrun, ONBOARDING_ID);
    await payrun.sandbox.control.changeBusiness({ verification: "verified" });
    const done = await untilOnboarding(payrun, "ended", ({ ended }) => ended);
    expect(done.phase).toBe("verified");
    expect((await kybWrites(payrun)).toSorted()).toEqual([
      "PATCH /tax",
      "PATCH /tax/signature",
      "POST /officers",
      "POST /officers",
      "POST /officers/certify-beneficial-ownership",
    ]);
    expect((await reviewed(payrun)).officers).toHaveLength(2);
  },
);
