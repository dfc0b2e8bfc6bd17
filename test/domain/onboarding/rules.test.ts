import { describe, expect, test } from "vitest";
import { withoutPersonal } from "../../../src/domain/onboarding/masking.ts";
import { lastFour, matchOfficer } from "../../../src/domain/onboarding/matching.ts";
import { firstPlaybook } from "../../../src/domain/onboarding/proposal.ts";
import { pollInMs, remindersBy, judgeWait } from "../../../src/domain/onboarding/waits.ts";
import { loadPlaybook } from "../../../src/playbooks/load.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const DAY_MS = 86_400_000;

describe("an officer", () => {
  const ada = { firstName: "Ada", lastName: "O'Kafor", ssnLast4: "9876" };

  test("an officer is listed if name and last four agree, however the name is written", () => {
    const listed = [{ firstName: "ADA", lastName: "Okafor", ssnLast4: "9876" }];
    expect(matchOfficer(ada, listed)).toBe("listed");
    expect(matchOfficer(ada, [{ ...ada, ssnLast4: "***-**-9876" }])).toBe("listed");
  });

  test("an officer is unclear if only one of name and last four agrees, or the list shows neither", () => {
    expect(matchOfficer(ada, [{ ...ada, ssnLast4: "1111" }])).toBe("unclear");
    expect(matchOfficer(ada, [{ ...ada, lastName: "Smith" }])).toBe("unclear");
    expect(matchOfficer(ada, [{ ...ada, ssnLast4: undefined }])).toBe("unclear");
    expect(matchOfficer(ada, [{ firstName: null }])).toBe("unclear");
  });

  test("an officer is new if nobody listed matches", () => {
    expect(matchOfficer(ada, [])).toBe("new");
    const ben = { firstName: "Ben", lastName: "Oduya", ssnLast4: "9123" };
    expect(matchOfficer(ada, [ben])).toBe("new");
    expect(lastFour("321-54-9876")).toBe("9876");
  });
});

describe("a wait", () => {
  const rules = { remindEveryDays: 3, expireAfterDays: 30 };
  const wait = { sinceMs: 0, sinceRealMs: 0, reminders: 0 };
  const at = (days: number, more: object = {}) =>
    new ClockReading({ businessMs: days * DAY_MS, ...more });

  test("people are reminded of a wait regularly, and missed reminders become one", () => {
    expect(judgeWait(wait, at(2.9), rules)).toBe("wait");
    expect(judgeWait(wait, at(3), rules)).toBe("remind");
    expect(judgeWait({ ...wait, reminders: 1 }, at(5), rules)).toBe("wait");
    expect(remindersBy(wait, at(10), 3)).toBe(3);
  });

  test("a wait expires, but on a fast clock not within a real minute", () => {
    expect(judgeWait(wait, at(30), rules)).toBe("expired");
    expect(judgeWait(wait, at(40, { scale: 86_400, realMs: 40_000 }), rules)).toBe("remind");
    expect(judgeWait(wait, at(40, { scale: 86_400, realMs: 61_000 }), rules)).toBe("expired");
  });

  test("a wait is polled less and less often", () => {
    const polls = [0, 600_000, 3_600_000, DAY_MS].map((realMs) =>
      pollInMs(wait, at(0, { realMs }), rules),
    );
    expect(polls).toEqual([15_000, 60_000, 360_000, 1_800_000]);
  });

  test("a wait wakes for its next reminder or its expiry", () => {
    const fast = { scale: 86_400, sandbox: true };
    expect(pollInMs(wait, at(2.5, { ...fast, realMs: 600_000 }), rules)).toBe(500);
    const reminded = { ...wait, reminders: 9 };
    expect(pollInMs(reminded, at(29.5, { ...fast, realMs: 600_000 }), rules)).toBe(500);
    // People have a minute.
    expect(pollInMs(wait, at(2.5, { ...fast, realMs: 55_000 }), rules)).toBe(5_000);
  });
});

test("a service's words are shown without the personal values sent to it", () => {
  const said = "ssn 321549876 (321-54-9876) of 12 Harbor Street, born 1979/02/28, EIN 98-7654321";
  const masked = withoutPersonal(said, ["321-54-9876", "1979-02-28", "12 Harbor Street"]);
  expect(masked).toBe("ssn ••• (•••) of •••, born •••, EIN •••");
  expect(withoutPersonal("aab, AaB, xaab, aaab; a-a . b", ["AAB"])).toBe(
    "•••, •••, xaab, aaab; •••",
  );
  expect(withoutPersonal("straße 5 and STRASSE", ["Straße 5", "ab"])).toBe("••• and STRASSE");
  expect(withoutPersonal("Call 555-0100 about case 12345678.")).toBe(
    "Call 555-0100 about case 12345678.",
  );
});

test("the proposed playbook is valid, and pays nothing unapproved", () => {
  const loaded = loadPlaybook(firstPlaybook("acme"), { file: "weekly-vendors.yaml" });
  expect(loaded).toMatchObject({ ok: true, playbook: { kind: "pay-run", business: "acme" } });
});
