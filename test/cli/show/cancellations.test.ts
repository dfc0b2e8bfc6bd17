import { expect, test } from "vitest";
import { onHoldLines, pollCancellation, progressOf } from "../../../src/cli/show/cancellations.ts";

const asked = { kind: "cancel-scheduled", launchedBy: "otto" } as const;
const cancelled = (payableId: string, holdId: string | null = `hold_${payableId}`) =>
  ({ payableId, holdId, state: "cancelled" }) as const;

test("a cancelled payment's bill is reported as on hold, with the command that releases it", () => {
  const [first, ...others] = onHoldLines({ ...asked, payments: [cancelled("p1")] });
  expect([first, others]).toEqual(["Its bill stays on hold until payrun release hold_p1", []]);
  const several = { ...asked, payments: [cancelled("p1"), cancelled("p2")] };
  expect(onHoldLines(several)).toEqual([
    "Their bills stay on hold until payrun release --all --by otto",
  ]);
});

test("no hold is reported if the cancel has set none", () => {
  expect(onHoldLines({ ...asked, payments: [cancelled("p1", null)] })).toEqual([]);
  expect(onHoldLines({ ...asked, payments: [] })).toEqual([]);
});

test("an open cancellation's payments count as to go, and as unknown only once it has ended", () => {
  const counts = { cancelled: 1, unknown: 2 };
  const open = { phase: "cancelling", counts, endedAt: null, payments: [] } as const;
  expect(progressOf(open)).toBe("cancelling · 1 cancelled · 2 to go");
  const ended = { ...open, phase: "completed-with-exceptions", endedAt: "2026-11-27T00:00:00Z" };
  expect(progressOf({ ...ended, phase: "completed-with-exceptions" })).toContain("2 unknown");
});

test("watching a cancellation reports that its last worker is gone", async () => {
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

test("progress names the reason why no cancel is sent if all have the same one", () => {
  const waits = { state: "unknown", reason: "Nothing is sent until 4:03 AM." } as const;
  const gone = { state: "cancelled", reason: "No money moved." } as const;
  const now = { phase: "cancelling", counts: { unknown: 2 }, endedAt: null } as const;
  const line = progressOf({ ...now, payments: [gone, waits, waits] });
  expect(line).toBe("cancelling · 2 to go · Nothing is sent until 4:03 AM.");
  const other = { state: "unknown", reason: null } as const;
  expect(progressOf({ ...now, payments: [waits, other] })).toBe("cancelling · 2 to go");
});
