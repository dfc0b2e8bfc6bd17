import { addBankingDays } from "../../../src/domain/clock/bank-calendar.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import { activeHolds } from "../../../src/store/holds/holds.ts";
import type { Store } from "../../../src/store/index.ts";
import { planLine, seedRun, setLine, type SeededRun } from "./rows.ts";

export const SOON = addBankingDays(newYorkDate(Date.now()), 3);
export const PAST = addDays(newYorkDate(Date.now()), -1);

/** Creates a run that is paying: p1, p2 wait, p3 can be recalled, p4 can't, p5 is being sent. */
export async function seedPayingRun(store: Store): Promise<SeededRun> {
  const vendor = { contactId: "con_osprey", contactName: "Osprey Robotics" };
  const run = await seedRun(store, {
    lines: [
      planLine("p1", { ...vendor, amountCents: 11_100 }),
      planLine("p2", { ...vendor, amountCents: 22_200 }),
      planLine("p3", { amountCents: 33_300, totalCents: 33_300, executionDate: SOON }),
      planLine("p4", { amountCents: 44_400, executionDate: PAST }),
      planLine("p5", { amountCents: 55_500 }),
    ],
  });
  await setLine(store, run.runId, "p3", { state: "scheduled", paymentIds: ["pmt_3"] });
  await setLine(store, run.runId, "p4", { state: "scheduled", paymentIds: ["pmt_4"] });
  await setLine(store, run.runId, "p5", { state: "paying" });
  return run;
}

/** Returns the holds in force, as scope and value. */
export async function inForce({ store }: { readonly store: Store }): Promise<string[]> {
  const holds = await activeHolds(store.db, "biz_acme", Date.now());
  return holds.map(({ scope, value }) => (scope === "all" ? scope : `${scope} ${value}`));
}
