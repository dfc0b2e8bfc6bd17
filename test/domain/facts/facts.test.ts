import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NOTICE_KINDS } from "../../../src/contracts/notices.ts";
import { FACTS, sentenceOf } from "../../../src/domain/facts/all.ts";

const PAGE = readFileSync(new URL("../../../docs/notices.md", import.meta.url), "utf8");

/** Whom the page says that each kind of notice goes to. */
function receivers(): Map<string, string> {
  const table = /## Kinds\n(.*?)\n## /s.exec(PAGE)?.[1] ?? "";
  const rows = [...table.matchAll(/^\| (`.*?) \|.*\| ([^|]+) \|$/gm)];
  return new Map(
    rows.flatMap(([, kinds = "", to = ""]) =>
      [...kinds.matchAll(/`([a-z-]+)`/g)].map(([, kind = ""]) => [kind, to] as const),
    ),
  );
}

test("each entry of the trail is declared once", () => {
  const actions = FACTS.flatMap((each) => ("read" in each ? [each.action] : []));
  expect(actions.length).toBeGreaterThan(80);
  expect(actions.filter((action, index) => actions.indexOf(action) !== index)).toEqual([]);
});

test("the page of notices names the kind of each fact, and the operators for what only they can mend", () => {
  const to = receivers();
  const notifying = FACTS.flatMap((each) => ("read" in each ? (each.notifies ?? []) : [each]));
  expect(notifying.length).toBeGreaterThan(40);
  for (const { kind, isForOperators } of notifying) {
    expect([...NOTICE_KINDS, "remittance"]).toContain(kind);
    expect(to.get(kind), kind).toMatch(isForOperators ? /`operator`/ : /./);
  }
});

test("histories word an entry with its fact's own sentence", () => {
  const lookedUp = {
    seq: 1,
    begunAtMs: 1,
    isWhole: true,
    shownIds: "hash",
    verdict: "none",
    isConclusive: true,
    shown: 1,
    found: [],
  };
  const said: readonly (readonly [string, object, string, string])[] = [
    [
      "attempt.looked-up",
      lookedUp,
      "looked-up",
      "Looked up request 1: none, 1 payment shown, after its window",
    ],
    [
      "incident.opened",
      { round: 1, code: "R01", holdId: "hold_1" },
      "incident",
      "Its funding account is on hold for all runs (R01)",
    ],
    ["line:planned", { why: "approved" }, "line", "Has every approval that it needs"],
    ["line:parked", { reasonCode: "over-limit" }, "line", "Now parked (over limit)"],
    ["line:cancelled", { reasonCode: "dropped" }, "line", "Left out of its run"],
    [
      "payable.resolved-give-up",
      { runId: "run_1", reason: "a double" },
      "payable",
      "Given up (a double)",
    ],
    [
      "cancel-payment:too-late",
      { reason: "It went out." },
      "cancel-payment",
      "Cancel of its payment: too late (It went out.)",
    ],
    ["alarm:late-answer", { code: "R01" }, "alarm", "Alarm: late answer (R01)"],
    ["payment.not-on-record", { reason: "R01" }, "recorded", "Payment not on record (R01)"],
  ];
  for (const [action, details, kind, sentence] of said) {
    expect(sentenceOf({ action, details: { ...details } })).toEqual({ kind, text: sentence });
  }
});

test("an entry whose details are not its fact's is worded by its name", () => {
  const entry = { action: "attempt.refused", details: { seq: "one", why: "no_hold" } };
  expect(sentenceOf(entry)).toEqual({ kind: "recorded", text: "Attempt refused (no_hold)" });
});
