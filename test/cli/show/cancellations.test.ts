import { expect, test } from "vitest";
import {
  keptBackLines,
  pollCancellation,
  progressOf,
} from "../../../src/cli/show/cancellations.ts";

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

test("a payment that is still to be cancelled is to go, and unknown only where it ends so", () => {
  const counts = { cancelled: 1, unknown: 2 };
  const open = { phase: "cancelling", counts, endedAt: null, payments: [] } as const;
  expect(progressOf(open)).toBe("cancelling · 1 cancelled · 2 to go");
  const ended = { ...open, phase: "completed-with-exceptions", endedAt: "2026-11-27T00:00:00Z" };
  expect(progressOf({ ...ended, phase: "completed-with-exceptions" })).toContain("2 unknown");
});

test("who watches a cancellation is told when its last worker is gone, as of a run", async () => {
  const heard: (readonly string[])[] = [];
  let reads = 0;
  const status = () => {
    reads += 1;
    const open = { phase: "cancelling", waitingFor: null, counts: {}, payments: [] };
    return Promise.resolve({ ...open, endedAt: reads === 2 ? "2026-11-27T00:00:00Z" : null });
  };
  const gateway = { get: status } as unknown as Parameters<typeof pollCancellation>[0];
  await pollCancellation(gateway, "cancel-scheduled-payments/acme/1", {
    notes: () => Promise.resolve(reads === 1 ? [] : ["no worker"]),
    changed: (_, __, notes) => heard.push(notes),
  });
  expect(heard).toEqual([[], ["no worker"]]);
});

test("who waits for cancels is told why none goes, where one reason keeps all of them back", () => {
  const waits = { state: "unknown", reason: "Nothing is sent until 4:03 AM." } as const;
  const gone = { state: "cancelled", reason: "No money moved." } as const;
  const now = { phase: "cancelling", counts: { unknown: 2 }, endedAt: null } as const;
  const line = progressOf({ ...now, payments: [gone, waits, waits] });
  expect(line).toBe("cancelling · 2 to go · Nothing is sent until 4:03 AM.");
  const other = { state: "unknown", reason: null } as const;
  expect(progressOf({ ...now, payments: [waits, other] })).toBe("cancelling · 2 to go");
});
