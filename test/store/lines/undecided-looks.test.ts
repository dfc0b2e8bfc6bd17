import { expect, test } from "vitest";
import { dueLines } from "../../../src/store/lines/due-lines.ts";
import { changeLine, type LineChange } from "../../../src/store/lines/lines.ts";
import { undecidedToLookAt } from "../../../src/store/lines/undecided-looks.ts";
import { approvedRun } from "../approved-run.ts";
import { openSubjectOn, testStore } from "../support.ts";

test("the bill of a line that waits for a decision, a hold's end or money is read after an event and when its poll is due, unless a request may still pay it", async () => {
  const { store } = await testStore();
  const waiting = { state: "awaiting-approval", pollAtMs: 9_000 } as const;
  const held = { state: "on-hold", reasonCode: "on_hold", pollAtMs: 9_000 } as const;
  const changes: Readonly<Record<string, LineChange>> = {
    polled: { ...waiting, pollAtMs: 5_000 },
    signaled: { ...waiting, look: true },
    later: { ...waiting, pollAtMs: 6_000 },
    "held-polled": { ...held, pollAtMs: 4_000 },
    "held-signaled": { ...held, look: true },
    "held-later": held,
    "waits-for-vendor": { ...held, reasonCode: "contact_not_payable", look: true },
    unfunded: { funded: false, look: true },
    "about-to-be-paid": { look: true, pollAtMs: 0 },
    parked: { state: "parked", look: true, pollAtMs: 0 },
    sent: { ...held, look: true, pollAtMs: 1_000 },
  };
  const runId = await approvedRun(store, "weekly", Object.keys(changes));
  for (const [payableId, change] of Object.entries(changes)) {
    await changeLine(store.db, { runId, payableId }, change, 4);
  }
  await openSubjectOn(store, "sent");
  const due = await undecidedToLookAt(store.db, runId, 5_000.5);
  expect(due).toEqual([
    { payableId: "polled", look: false },
    { payableId: "signaled", look: true },
    { payableId: "held-polled", look: false },
    { payableId: "held-signaled", look: true },
    { payableId: "unfunded", look: true },
  ]);
  const now = { runId, businessMs: 5_000.5, serviceMs: 5_000.5, blockedSources: [] };
  const { toFollow, nextPollMs } = await store.transaction((trx) => dueLines(trx, now));
  expect({ toFollow, nextPollMs }).toEqual({ toFollow: due.length, nextPollMs: 6_000 });
});
