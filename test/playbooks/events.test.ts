import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STARTING_EVENTS } from "../../src/contracts/events.ts";
import { eventsOf } from "../../src/domain/events/triggers.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";

function mistakes(text: string): string {
  const loaded = loadPlaybook(text, { file: "it.yaml" });
  return loaded.ok ? "" : formatProblems(loaded.problems);
}

const docs = readFileSync(new URL("../../docs/events.md", import.meta.url), "utf8");
const blocks = [...docs.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = ""]) => text);

describe("events in a playbook", () => {
  test("each example of the events page loads, and the page names every event that starts a kind", () => {
    expect(blocks).toHaveLength(3);
    for (const text of blocks) expect(mistakes(text)).toBe("");
    for (const type of Object.values(STARTING_EVENTS).flat()) expect(docs).toContain(type);
  });

  test.each([
    [
      "kind: pay-run\nevents: [payable.aproved]\n",
      /it\.yaml:2:10 .*\n.*\n.*\n.*\n.*did you mean `payable\.approved`/,
    ],
    [
      "kind: pay-run\nevents: [payable.paid]\n",
      /expected one of payable\.created, payable\.approved/,
    ],
    ["kind: pay-run\nevents: [payable.created, payable.created]\n", /is listed twice/],
    ["kind: pay-run\nevents: payable.created\n", /must be a list/],
    ["kind: pay-run\nevents: []\n", /names no event/],
    ["kind: kyb-onboarding\nevents: [contact.updated]\n", /unknown key `events`/],
    ["kind: cancel-scheduled\n", /`choose` is missing/],
    [
      "kind: cancel-scheduled\nchoose: { payments: [pay_1] }\nevents: [contact.updated]\n",
      /the event says which payments/,
    ],
    ["kind: hold\nevents: [contact.updated]\n", /bills of a run are held back/],
  ])("the playbook %j has a mistake in its events", (text, message) => {
    expect(mistakes(text)).toMatch(message);
  });

  test("events are kept in the order written, and a playbook without events has none", () => {
    const loaded = loadPlaybook("kind: pay-run\nevents: [payable.approved, payable.created]\n", {
      file: "it.yaml",
    });
    expect(loaded.ok && eventsOf(loaded.playbook)).toEqual(["payable.approved", "payable.created"]);
    const without = loadPlaybook("kind: pay-run\n", { file: "it.yaml" });
    expect(without.ok && "events" in without.playbook).toBe(false);
  });
});
