import { expect, test } from "vitest";
import type { HurryRule } from "../../../src/contracts/playbook.ts";
import { hurryOf } from "../../../src/domain/approvals/hurry.ts";
import { missingOf } from "../../../src/domain/approvals/share.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";

const hurry = (
  rule: Partial<HurryRule>,
  time: string,
  afterMs = 3_600_000,
  zone = "America/New_York",
) =>
  hurryOf(
    { underMs: null, outside: null, needsAnother: false, ...rule },
    { plannedAtMs: 0, nowMs: afterMs, businessMs: newYorkInstantMs("2026-11-23", time), zone },
  );

test("an approval is hurried if it comes sooner after the plan than the playbook says", () => {
  expect(hurry({ underMs: 60_000 }, "12:00", 12_345)).toBe("12 seconds after the plan");
  // A gateway's clock may be behind the worker's.
  expect(hurry({ underMs: 60_000 }, "12:00", -500)).toBe("0 seconds after the plan");
  expect(hurry({ underMs: 60_000 }, "12:00", 60_000)).toBeNull();
  expect(hurryOf(undefined, { plannedAtMs: 0, nowMs: 0, businessMs: 0, zone: "UTC" })).toBeNull();
});

test("an approval is hurried outside the playbook's hours, in its zone, also if they go over midnight", () => {
  const day = { outside: { from: "07:00", to: "20:00" } };
  expect(["06:59", "07:00", "19:59", "20:00"].map((time) => hurry(day, time) === null)).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect(hurry(day, "06:59")).toBe("at Mon, Nov 23, 6:59 AM New York");
  expect(hurry(day, "06:59", 0, "Europe/London")).toBeNull();
  const night = { outside: { from: "20:00", to: "07:00" } };
  expect(["06:59", "07:00", "20:00"].map((time) => hurry(night, time) === null)).toEqual([
    true,
    false,
    true,
  ]);
});

test("a hurried approval makes its stage need one more person, however many were hurried", () => {
  const by = { approvers: ["owner"], quorum: 1, escalated: null };
  const given = (...hurried: boolean[]) =>
    hurried.map((each, index) => ({ stage: 0, principal: `p${index}`, hurried: each }));
  expect(missingOf({ ...by, approvals: given(false) })).toBeNull();
  expect(missingOf({ ...by, approvals: given(true) })).toMatchObject({ quorum: 2, approvals: 1 });
  expect(missingOf({ ...by, approvals: given(true, true) })).toBeNull();
  const stages = [
    { by: ["owner"], quorum: 1 },
    { by: ["chair"], quorum: 1 },
  ];
  expect(missingOf({ ...by, stages, approvals: given(true) })).toMatchObject({
    stage: 1,
    quorum: 2,
  });
});
