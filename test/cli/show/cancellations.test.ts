import { expect, test } from "vitest";
import { keptBackLines } from "../../../src/cli/show/cancellations.ts";

const asked = { kind: "cancel-scheduled", launchedBy: "otto" } as const;
const cancelled = (payableId: string, holdId: string | null = `hold_${payableId}`) =>
  ({ payableId, holdId, state: "cancelled" }) as const;

test("who cancels a bill's payment is told that the bill stays on hold, and the command that ends it", () => {
  const [first, ...others] = keptBackLines({ ...asked, payments: [cancelled("p1")] });
  expect([first, others]).toEqual(["Its bill stays on hold until payrun release hold_p1", []]);
  const several = { ...asked, payments: [cancelled("p1"), cancelled("p2")] };
  expect(keptBackLines(several)).toEqual([
    "Their bills stay on hold until payrun release --all --by otto",
  ]);
});

test("nothing is said of a hold where the cancel has set none", () => {
  expect(keptBackLines({ ...asked, payments: [cancelled("p1", null)] })).toEqual([]);
  expect(keptBackLines({ ...asked, payments: [] })).toEqual([]);
});
