import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { testPlaybook } from "../../src/playbooks/fixtures.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { formatProblems } from "../../src/playbooks/problem.ts";
import { payrun as cli } from "./cli.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-fixtures-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Returns the two YAML texts of docs/approvals.md: a playbook's rules, and their tests. */
async function fromDocs(): Promise<{ playbook: string; tests: string }> {
  const docs = await readFile(new URL("../../docs/approvals.md", import.meta.url), "utf8");
  const texts = [...docs.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = ""]) => text);
  const of = (begin: string): string => texts.find((text) => text.startsWith(begin)) ?? "";
  return { playbook: `kind: pay-run\n${of("approve:")}`, tests: of("tests:") };
}

function playbook(text: string): PayRunPlaybook {
  const loaded = loadPlaybook(`kind: pay-run\n${text}`, { file: "weekly.yaml" });
  if (loaded.ok && loaded.playbook.kind === "pay-run") return loaded.playbook;
  throw new Error(loaded.ok ? "not a pay-run" : formatProblems(loaded.problems));
}

describe("payrun test", () => {
  test("the tests of the docs pass, and a wrong expectation fails with its line", async () => {
    const { playbook: rules, tests } = await fromDocs();
    const file = join(folder, "weekly.yaml");
    await writeFile(file, rules);
    await writeFile(join(folder, "weekly.test.yaml"), tests);
    const good = await cli(["test", file]);
    expect([good.code, good.stderr]).toEqual([0, ""]);
    expect(good.stdout).toContain("an odd bill needs two");
    await writeFile(join(folder, "weekly.test.yaml"), tests.replace("quorum: 2", "quorum: 3"));
    const bad = await cli(["test", file]);
    expect(bad.code).toBe(1);
    expect(bad.stderr).toMatch(/weekly\.test\.yaml:4:13 .*the playbook says 2 of controller/);
    expect(bad.stderr).toContain("^^^");
  });

  test("payrun test exits 2 for a missing or invalid file of tests, and names the line", async () => {
    const file = join(folder, "weekly.yaml");
    await writeFile(file, "kind: pay-run\n");
    expect((await cli(["test", file])).code).toBe(2);
    await writeFile(join(folder, "weekly.test.yaml"), "tests: [{ bill: { amount: lots } }]\n");
    const answer = await cli(["test", file]);
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain("weekly.test.yaml:1:");
    expect(answer.stderr).not.toContain("    at ");
  });
});

describe("a playbook's tests", () => {
  test("a playbook's tests cover its condition, its limit and its rules' conditions", () => {
    const policy = playbook(`where: payable.vendor.name.startsWith("A")
limits: { bill: $1k }
approve:
  - { where: 'payable.flags.exists(flag, flag == "new-vendor")', by: [owner] }
  - { by: [controller] }
`);
    const reading = testPlaybook(
      policy,
      `tests:
  - { bill: { amount: $5, vendor: Beta }, expect: left-out }
  - { bill: { amount: $5k, vendor: Acme }, expect: over-limit }
  - { bill: { amount: $500, total: $5k, vendor: Acme }, expect: over-limit }
  - { bill: { amount: $5, vendor: Acme, flags: [new-vendor] }, expect: { by: [owner] } }
  - { bill: { amount: $5, vendor: Acme }, expect: { by: [controller] } }
`,
      "weekly.test.yaml",
    );
    expect(reading.ok && reading.results.map(({ problem }) => problem)).toEqual(
      Array(5).fill(undefined),
    );
  });

  test("a playbook's tests say what else a vendor is paid", () => {
    const policy = playbook(`approve:
  - { over: { amount: $25k, per: vendor-week }, by: [owner] }
  - { by: [controller] }
`);
    const reading = testPlaybook(
      policy,
      `tests:
  - { bill: { amount: $24k, besides: $1k }, expect: { by: [controller] } }
  - { bill: { amount: $24k, besides: $1,001 }, expect: { by: [owner] } }
`.replace("$1,001", '"$1,001"'),
      "weekly.test.yaml",
    );
    expect(reading.ok && reading.results.map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("a playbook's tests check the order of approvals and their escalation", () => {
    const policy = playbook(`approve:
  - over: $25k
    stages: [{ by: [controller] }, { by: [owner], quorum: 2 }]
  - { by: [controller] }
escalate: { after: 2 business days, to: [owner] }
`);
    const found = (expected: string): string => {
      const text = `tests: [{ bill: { amount: $30k }, expect: ${expected} }]`;
      const reading = testPlaybook(policy, text, "weekly.test.yaml");
      if (!reading.ok) return formatProblems(reading.problems);
      return reading.results.map(({ problem }) => problem?.message ?? "").join();
    };
    expect(found("{ stages: [{ by: [controller] }, { by: [owner], quorum: 2 }] }")).toBe("");
    const escalate = "escalate: { after: 2 business days, to: [owner] }";
    const second = "{ by: [owner], quorum: 2, escalate: none }";
    expect(found(`{ stages: [{ by: [controller], ${escalate} }, ${second}] }`)).toBe("");
    const sooner = escalate.replace("2 business", "1 business");
    expect(found(`{ stages: [{ by: [controller], ${sooner} }, ${second}] }`)).toContain(
      "1 of controller (or owner after 2 business days), then 2 of owner (no escalation)",
    );
    expect(found("{ stages: [{ by: [owner], quorum: 2 }, { by: [controller] }] }")).toContain(
      "the playbook says 1 of controller, then 2 of owner (rule 1)",
    );
    expect(found("{ by: [controller, owner], quorum: 3 }")).toContain("then 2 of owner");
    expect(found("{ stages: [] }")).toContain("weekly.test.yaml:1:");
  });

  test.each([
    ["tests: []", "1:8"],
    ["test: []", "1:1"],
    ["tests: [{ bill: { amount: $5, due: tomorrow }, expect: left-out }]", "1:36"],
    ["tests: [{ bill: { amount: $5 }, expect: maybe }]", "1:41"],
    ["tests: [{ bill: { amount: $5, flags: [odd] }, expect: left-out }]", "1:39"],
    ["tests: [", "1:"],
    ["", "1:1  must be `tests:` with a list of tests"],
    [
      "tests: [{ bill: { amount: $5 }, expect: { by: [owner], quorum: 0 } }]",
      "1:64  must be at least 1",
    ],
  ])("invalid tests are reported with line and column: %s", (text, where) => {
    const reading = testPlaybook(playbook(""), text, "weekly.test.yaml");
    expect(reading.ok ? "" : formatProblems(reading.problems)).toContain(
      `weekly.test.yaml:${where}`,
    );
  });
});
