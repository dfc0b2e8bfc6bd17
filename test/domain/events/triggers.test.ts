import { describe, expect, test } from "vitest";
import type { Playbook } from "../../../src/contracts/playbook.ts";
import { dueAtMs } from "../../../src/domain/events/quiet.ts";
import { type EventFacts, eventsOf, isStartedBy } from "../../../src/domain/events/triggers.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const NOW = { sinceMs: 0, nowMs: DAY_MS };

function playbook(text: string): Playbook {
  const loaded = loadPlaybook(text, { file: "it.yaml" });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("; "));
  return loaded.playbook;
}

function event(type: string, changes: Partial<EventFacts> = {}): EventFacts {
  const object = type.split(".")[0] ?? "";
  return { type, object, objectId: `${object}_1`, createdAtMs: DAY_MS, isOwned: false, ...changes };
}

const payNow = playbook("kind: pay-run\nevents: [payable.approved]\n");
const failures = playbook("kind: retry-failed\nevents: [payable.payment.failed]\n");
const stopped = playbook("kind: cancel-scheduled\nevents: [contact.updated, payable.declined]\n");

describe("events that start a playbook", () => {
  test.each([
    ["of a bill that was approved", payNow, event("payable.approved"), true],
    ["that it doesn't name", payNow, event("payable.created"), false],
    ["of a bill that a run has", payNow, event("payable.approved", { isOwned: true }), false],
    ["of a payment made elsewhere", failures, event("payable.payment.failed"), true],
    ["of our own payment", failures, event("payable.payment.failed", { isOwned: true }), false],
    ["of a vendor", stopped, event("contact.updated"), true],
    [
      "of a bill in a run, which no other playbook cancels",
      stopped,
      event("payable.declined", { isOwned: true }),
      true,
    ],
    ["of something else", stopped, event("contact.updated", { object: "invoice" }), false],
    ["of an unknown type", stopped, event("contact.renamed"), false],
  ] as const)("an event %s is judged as the start of a playbook (%#)", (_, of, given, starts) => {
    expect(isStartedBy(of, given, NOW)).toBe(starts);
  });

  test("an event starts a playbook that chooses a vendor only if it is about that vendor", () => {
    const one = playbook(
      "kind: cancel-scheduled\nchoose: { vendor: contact_1 }\nevents: [contact.updated]\n",
    );
    expect(isStartedBy(one, event("contact.updated"), NOW)).toBe(true);
    expect(isStartedBy(one, event("contact.updated", { objectId: "contact_2" }), NOW)).toBe(false);
  });

  test("an event from before the playbook named it, or from weeks ago, starts nothing", () => {
    const before = { sinceMs: 2 * DAY_MS, nowMs: 2 * DAY_MS };
    expect(isStartedBy(payNow, event("payable.approved"), before)).toBe(false);
    const slow = { ...before, sinceMs: DAY_MS + 4 * MINUTE_MS };
    expect(isStartedBy(payNow, event("payable.approved"), slow)).toBe(true);
    expect(isStartedBy(payNow, event("payable.approved"), { sinceMs: 0, nowMs: 16 * DAY_MS })).toBe(
      false,
    );
  });
});

test("a playbook that names no events is started by none", () => {
  expect(eventsOf(playbook("kind: retry-failed\n"))).toEqual([]);
  expect(eventsOf(playbook("kind: kyb-onboarding\n"))).toEqual([]);
});

describe("a subject that changes without end", () => {
  const none = { lately: 0, lastMs: null, lastOfPlaybookMs: null, dueMs: null };

  test("a subject that changes again and again starts a playbook at once, then less and less often, but at least once an hour", () => {
    expect(dueAtMs(none, 5)).toBe(5);
    const pauses = [1, 2, 3, 7, 50].map(
      (lately) => dueAtMs({ ...none, lately, lastMs: 0 }, 5) / MINUTE_MS,
    );
    expect(pauses).toEqual([1, 2, 4, 60, 60]);
    expect(dueAtMs({ ...none, lately: 1, lastMs: 0 }, DAY_MS)).toBe(DAY_MS);
  });

  test("an event joins a start that is already waiting", () => {
    expect(dueAtMs({ ...none, lately: 9, lastMs: 0, dueMs: 7 }, 5)).toBe(7);
    expect(dueAtMs({ ...none, lastOfPlaybookMs: 0 }, 5)).toBe(MINUTE_MS);
  });
});
