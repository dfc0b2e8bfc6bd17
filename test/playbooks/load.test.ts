import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPlaybook, loadPlaybookFile } from "../../src/playbooks/load.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { onlyMistake } from "./marked.ts";

function load(text: string): PayRunPlaybook {
  const result = loadPlaybook(text, { file: "folder/weekly.yaml" });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  if (result.playbook.kind !== "pay-run") throw new Error(result.playbook.kind);
  return result.playbook;
}

test.each([
  ["review: [new-vendor]\napprove: [{ by: [a] }]", ["1: no rule of `approve` has `when: review`"]],
  ["approve: [{ by: [a] }]", []],
  ["review: []", []],
  [
    `review: [new-vendor]\napprove: [{ where: '"new-vendor" in payable.flags', by: [a] }, { by: [b] }]`,
    [],
  ],
  [
    "approve: [{ when: review, by: [a] }, { by: [b] }]\nreview:\n  - split-below-limit",
    ["3: `split-below-limit` flags nothing"],
  ],
  ["review: [split-below-limit]\napprove: [{ when: review, over: $5k, by: [a] }, { by: [b] }]", []],
  [
    "limits: { bill: $5k }\napprove:\n  rules:\n    - { over: $5k, by: [a] }\n    - { over: $4k, by: [b] }\n    - { by: [c] }",
    ["4: this rule never acts: what is above $5,000.00 is above `limits.bill`, $5,000.00"],
  ],
  [
    "limits: { bill: $5k }\napprove: [{ over: { amount: $9k, per: vendor-week }, by: [a] }, { by: [b] }]\nchangedRecord: { cancelOver: $10k }",
    ["3: this never acts: what is above $10,000.00"],
  ],
])("a playbook that is valid and probably not meant comes with its warnings: %s", (text, told) => {
  const loaded = loadPlaybook(`${text}\nkind: pay-run\n`, { file: "weekly.yaml" });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const warned = loaded.warnings.map(({ line, message }) => `${line}: ${message}`);
  expect(warned.map((each, index) => each.slice(0, told[index]?.length))).toEqual(told);
});

describe("defaults", () => {
  test("the defaults are safe: one approval for everything, every oddity flagged, a question for late bills", () => {
    expect(load("kind: pay-run\n")).toMatchObject({
      kind: "pay-run",
      name: "weekly",
      business: null,
      schedule: null,
      select: { due: "within", days: 7 },
      where: null,
      pay: {
        on: "arrives-by-due-date",
        from: "default",
        whenShort: "most-urgent-first",
        clearing: "STANDARD",
        arrivalBusinessDays: 3,
      },
      limits: { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: null },
      review: ["new-vendor", "changed-bank-account", "likely-duplicate", "unusual-amount"],
      approve: [
        { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
      ],
      approvalValidDays: 30,
      late: "ask",
      onFailure: "retry-failed",
      notify: { people: "by-role", digest: "none" },
    });
  });

  test("a schedule that names only its days runs at 10:00 in New York", () => {
    expect(load("kind: pay-run\nschedule: { every: weekday }").schedule).toEqual({
      days: { every: "weekday" },
      at: "10:00",
      zone: "America/New_York",
      holidays: "business-day-before",
      catchUpDays: 1,
    });
  });

  test("accelerated clearing arrives after one business day by default", () => {
    expect(load("kind: pay-run\npay: { clearing: next-available }").pay).toMatchObject({
      clearing: "NEXT_AVAILABLE",
      arrivalBusinessDays: 1,
    });
    expect(
      load("kind: pay-run\npay: { clearing: next-available, arrivesAfter: 2 business days }").pay,
    ).toMatchObject({ arrivalBusinessDays: 2 });
  });

  test("bills before the next run are those of a week if there is no schedule", () => {
    const due = "select: { due: before-next-run }";
    expect(load(`kind: pay-run\n${due}`).select).toEqual({ due: "within", days: 7 });
    expect(load(`kind: pay-run\n${due}\nschedule: { every: friday }`).select).toEqual({
      due: "before-next-run",
    });
  });

  test("a notify section without keys gets the defaults", () => {
    expect(load("kind: pay-run\nnotify: {}").notify).toEqual({ people: "by-role", digest: "none" });
  });
});

describe("a schedule", () => {
  test.each([
    ["{ every: day }", { every: "day" }],
    ["{ every: friday }", { every: "week", on: "friday" }],
    ["{ every: week, on: friday }", { every: "week", on: "friday" }],
    ["{ every: two-weeks, from: 2026-01-08 }", { every: "two-weeks", from: "2026-01-08" }],
    ["{ every: month, on: 15 }", { every: "month", on: 15 }],
    ["{ every: month, on: last-day }", { every: "month", on: "last-day" }],
    ["{ every: month, on: last-business-day }", { every: "month", on: "last-business-day" }],
  ])("the schedule %s sets the days of its runs", (text, days) => {
    expect(load(`kind: pay-run\nschedule: ${text}`).schedule?.days).toEqual(days);
  });

  test("a schedule sets what happens on bank holidays, and how late a missed run may begin", () => {
    const text = "{ every: month, on: 1, holidays: business-day-after, catchUp: 3 days }";
    expect(load(`kind: pay-run\nschedule: ${text}`).schedule).toMatchObject({
      holidays: "business-day-after",
      catchUpDays: 3,
    });
  });
});

test("a schedule pays unless its mode is to plan only", () => {
  const modeOf = (text: string) => load(`kind: pay-run\nschedule: ${text}`).schedule?.mode;
  expect(modeOf("{ every: thursday }")).toBeUndefined();
  expect(modeOf("{ every: thursday, mode: pay }")).toBeUndefined();
  expect(modeOf("{ every: thursday, mode: plan-only }")).toBe("plan-only");
  onlyMistake("kind: pay-run\nschedule: { every: thursday, mode: «plan» }\n");
});

describe("reading a playbook", () => {
  test("every key of a playbook is read, in cents, days and sources", () => {
    const playbook = load(`
kind: pay-run
business: acme
schedule: { every: thursday, at: "10:00", zone: America/New_York }
select: { due: within 10 days }
where: payable.description.contains("rent")
pay: { on: next-business-day, from: balance, whenShort: stop }
limits: { bill: $50k, vendorPerWeek: $75k, businessPerWeek: "$250,000" }
review: [unusual-amount]
approve:
  - { when: review, by: [controller, owner], quorum: 2 }
  - { over: $25k, where: payable.vendor.name == "Acme", by: [owner] }
  - { by: [controller, owner] }
approvalValid: 14 days
late: next-business-day
onFailure: retry-failed
notify: { people: none, digest: daily }
`);
    expect(playbook).toEqual({
      kind: "pay-run",
      name: "weekly",
      business: "acme",
      schedule: {
        days: { every: "week", on: "thursday" },
        at: "10:00",
        zone: "America/New_York",
        holidays: "business-day-before",
        catchUpDays: 1,
      },
      select: { due: "within", days: 10 },
      where: 'payable.description.contains("rent")',
      pay: {
        on: "next-business-day",
        from: "balance",
        whenShort: "stop",
        clearing: "STANDARD",
        arrivalBusinessDays: 3,
      },
      limits: {
        billCents: 5_000_000,
        vendorPerWeekCents: 7_500_000,
        businessPerWeekCents: 25_000_000,
      },
      review: ["unusual-amount"],
      approve: [
        { review: true, overCents: null, where: null, by: ["controller", "owner"], quorum: 2 },
        {
          review: false,
          overCents: 2_500_000,
          where: 'payable.vendor.name == "Acme"',
          by: ["owner"],
          quorum: 1,
        },
        { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
      ],
      approvalValidDays: 14,
      late: "next-business-day",
      onFailure: "retry-failed",
      notify: { people: "none", digest: "daily" },
    });
    expect(JSON.parse(JSON.stringify(playbook))).toEqual(playbook);
  });

  test("YAML 1.1's surprises don't apply: `on` is a key and 10:00 a time, even under a 1.1 directive", () => {
    const text =
      "%YAML 1.1\n---\nkind: pay-run\nschedule: { every: monday, at: 10:00 }\npay: { on: next-business-day }";
    expect(load(text)).toMatchObject({
      schedule: { at: "10:00" },
      pay: { on: "next-business-day" },
    });
  });

  test("a playbook may have a byte order mark and Windows line ends", () => {
    expect(load("\ufeffkind: pay-run\r\nlate: ask\r\n").late).toBe("ask");
  });

  test("a playbook may get a name other than its file's", () => {
    const result = loadPlaybook("kind: pay-run", { file: "-", name: "given" });
    expect(result).toMatchObject({ ok: true, playbook: { name: "given" }, text: "kind: pay-run" });
  });
});

describe("a playbook's file", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "playbooks-"));
    await mkdir(join(folder, "sub.yaml"));
    await writeFile(join(folder, "weekly-vendors.yaml"), "kind: pay-run\n");
    await writeFile(join(folder, "rent.yml"), "kind: pay-run\n");
    await writeFile(join(folder, "playbook.json"), '{ "kind": "pay-run" }');
    await writeFile(join(folder, "Odd Name.yaml"), "kind: pay-run\n");
    await writeFile(join(folder, "binary.yaml"), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    await writeFile(join(folder, "zeros.yaml"), Buffer.alloc(100));
    await writeFile(join(folder, "empty.yaml"), "");
    await writeFile(join(folder, "huge.yaml"), "a: b\n".repeat(1_000_000));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("a file names its playbook, whether it ends in .yaml or .yml", async () => {
    const first = await loadPlaybookFile(join(folder, "weekly-vendors.yaml"));
    expect(first).toMatchObject({ ok: true, playbook: { name: "weekly-vendors" } });
    const second = await loadPlaybookFile(join(folder, "rent.yml"));
    expect(second).toMatchObject({ ok: true, playbook: { name: "rent" } });
  });

  test.each([
    ["missing.yaml", "there is no such playbook", undefined],
    ["weekly-vendor.yaml", "there is no such playbook", "weekly-vendors.yaml"],
    ["weekly-vendors", "there is no such playbook", "weekly-vendors.yaml"],
    ["rent.yml/more.yaml", "there is no such playbook", undefined],
    ["sub.yaml", "this is a directory", undefined],
    ["playbook.json", "a playbook's file name ends in .yaml", undefined],
    ["Odd Name.yaml", "`Odd Name` can't name a playbook", "odd-name"],
    ["binary.yaml", "this is not a text file", undefined],
    ["zeros.yaml", "this is not a text file", undefined],
    ["empty.yaml", "the playbook is empty", undefined],
    ["huge.yaml", "this is too large for a playbook", undefined],
  ])(
    "a file that can't be a playbook is reported as one problem: %s",
    async (name, message, guess) => {
      const file = join(folder, name);
      const result = await loadPlaybookFile(file);
      if (result.ok) throw new Error("the playbook was accepted");
      expect(result.problems).toHaveLength(1);
      expect(result.problems[0]).toMatchObject({ file, line: 1, column: 1, message });
      const didYouMean = result.problems[0]?.didYouMean;
      expect(didYouMean?.replace(`${folder}/`, "")).toBe(guess);
    },
  );
});
