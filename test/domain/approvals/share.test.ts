import { expect, test } from "vitest";
import {
  type LineUnderApproval,
  mayReject,
  missingOf,
  owesItTo,
  shareOf,
  ShareSums,
} from "../../../src/domain/approvals/share.ts";
import { moneyReach } from "../../../src/domain/approvals/money-reach.ts";
import { effectText, missingText, shareText } from "../../../src/domain/approvals/share-texts.ts";

const line = (changes: Partial<LineUnderApproval> = {}): LineUnderApproval => ({
  ...{ approvers: ["controller", "owner"], quorum: 1, approvals: [], escalated: null },
  ...changes,
});
const by = (...names: string[]) => names.map((principal) => ({ principal, stage: 0 }));
const cora = { name: "Cora", roles: new Set(["controller"]) };
const stages = [
  { by: ["controller"], quorum: 1 },
  { by: ["owner"], quorum: 2 },
];

test.each([
  ["goes out with the one approval that is missing", {}, "goes-out"],
  ["is one of two where the rule asks two", { quorum: 2 }, "one-of"],
  [
    "completes a quorum that someone else has begun",
    { quorum: 2, approvals: by("otto") },
    "goes-out",
  ],
  [
    "was given before, under another spelling of her name",
    { quorum: 2, approvals: by("cora") },
    "given",
  ],
  ["is none of hers where others decide", { approvers: ["owner"] }, "none"],
  ["is approved already", { approvals: by("otto") }, "approved"],
  ["opens the next stage, which others decide", { stages }, "one-of"],
  ["was given in an earlier stage", { stages, approvals: by("cora") }, "given"],
  ["comes after a stage that others decide first", { stages: stages.toReversed() }, "none"],
] as const)("the effect of Cora's approval is known if the bill %s", (_, changes, kind) => {
  expect(shareOf(line(changes), cora).kind).toBe(kind);
});

test("only an approver of one of its stages may reject a bill, even before that stage opens", () => {
  expect(mayReject(line({ stages: stages.toReversed() }), cora)).toBe(true);
  expect(mayReject(line({ approvers: ["owner"] }), cora)).toBe(false);
  expect(mayReject(line(), { ...cora, roles: new Set(["viewer"]) })).toBe(false);
});

test("a rule with a quorum of zero still needs one approval", () => {
  expect(missingOf(line({ quorum: 0 }))).toMatchObject({ quorum: 1, approvals: 0 });
});

test("a bill goes out because of an approver if its quorum would be missed without them", () => {
  const both = line({ quorum: 2, approvals: by("cora", "otto") });
  expect([owesItTo(both, "Cora"), owesItTo(both, "otto")]).toEqual([true, true]);
  expect(owesItTo(line({ approvals: by("cora", "otto") }), "otto")).toBe(false);
  expect(owesItTo(line({ quorum: 2, approvals: by("cora") }), "cora")).toBe(false);
});

test.each([
  [{ by: ["owner"], quorum: 1, approvals: 0 }, "the owner"],
  [{ by: ["controller", "owner"], quorum: 2, approvals: 0 }, "2 people of controller or owner"],
  [{ by: ["owner"], quorum: 2, approvals: 1 }, "a second person (owner)"],
  [{ by: ["owner"], quorum: 4, approvals: 1 }, "3 more people (owner)"],
  [{ by: ["owner"], quorum: 1, approvals: 0, stage: 2, stages: 2 }, "the owner (stage 2 of 2)"],
])("the missing approval %j is described as %s", (missing, text) => {
  expect(missingText(missing)).toBe(text);
});

test("the effect of an approval on all bills is described in one sentence", () => {
  const sums = new ShareSums();
  const add = (changes: Partial<LineUnderApproval>, cents: number, isHeld = false) =>
    sums.add(shareOf(line(changes), cora), { bills: { count: 1, cents }, isHeld });
  for (let bill = 0; bill < 54; bill += 1) add({}, 1_000);
  add({}, 500, true);
  for (let bill = 0; bill < 4; bill += 1) add({ quorum: 2 }, 100_00);
  add({ approvers: ["owner"] }, 30_000_00);
  expect(shareText(sums.share())).toBe(
    "Your approval lets 54 bills, $540.00, go out, covers 1 bill, $5.00, on hold, and is one of 2 for 4 bills, $400.00; it counts for none of 1 bill, $30,000.00, which needs the owner.",
  );
  expect(shareText(sums.share(), { money: "short" })).toContain(
    "lets 54 bills, $540.00, go out as far as the money reaches, covers 1 bill",
  );
  expect(shareText(new ShareSums().share())).toBe("No bill of it waits for an approval.");
});

test("a decision's effect is described with bills, sums and the approvals still missing", () => {
  const missing = [
    { by: ["controller"], quorum: 2, approvals: 1, lines: 4, totalCents: 400_00 },
    { by: ["owner"], quorum: 1, approvals: 0, lines: 1, totalCents: 30_000_00 },
  ];
  const goesOut = { count: 54, cents: 80_397_13 };
  expect(effectText({ goesOut, onHold: { count: 0, cents: 0 }, missing })).toBe(
    "54 bills, $80,397.13, go out; 4 need a second person (controller), 1 needs the owner.",
  );
  const none = { count: 0, cents: 0 };
  const onHold = none;
  expect(effectText({ goesOut, onHold, missing: [], money: "none" })).toMatch(
    /, waits? for money\.$/,
  );
  expect(effectText({ goesOut, onHold, missing: [], money: "short" })).toMatch(
    /out as far as the money reaches\.$/,
  );
  expect(effectText({ goesOut: none, onHold: { count: 2, cents: 200 }, missing: [] })).toBe(
    "No bill goes out by it yet; 2 bills, $2.00, stay on hold.",
  );
  const newDates = { count: 2, cents: 200, executionDate: "2026-11-30", asksAgain: false };
  expect(effectText({ goesOut: { count: 2, cents: 200 }, newDates, onHold, missing: [] })).toBe(
    "2 bills, $2.00, go out (on Mon, Nov 30: their day has passed).",
  );
  const restored = { zone: "America/New_York", notBefore: null, restored: true } as const;
  expect(
    effectText({ goesOut: { count: 2, cents: 200 }, onHold, missing: [], sends: restored }),
  ).toBe(
    "2 bills, $2.00, go out. The store was restored: what was paid meanwhile is found before anything is sent, and is not paid again.",
  );
  // An approver who has left out every waiting bill is not told that bills still wait.
  expect(effectText({ goesOut: none, onHold, missing: [] })).toBe("No bill goes out by it.");
});

test.each([
  [null, undefined],
  [60_00, undefined],
  [59_99, "short"],
  [0, "none"],
  [-1, "none"],
])("with %s cents left, the reach of an approval of $60.00 is %s", (left, reach) => {
  expect(moneyReach(left, { cents: 60_00 })).toBe(reach);
  expect(moneyReach(left, { cents: 0 })).toBeUndefined();
});
