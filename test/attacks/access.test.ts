import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { applyPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { confirmedToken } from "../support/confirmed-token.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const DAY = "2026-11-20";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "payrun-access-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Stores two revisions by Eve: controllers approve until noon of the day, owners afterwards. */
async function fill(): Promise<void> {
  const store = await openStore(`sqlite:${folder}/payrun.db`);
  const at = (time: string) => Date.parse(`${DAY}T${time}Z`);
  for (const [time, role] of [
    ["00:00:00.000", "controller"],
    ["12:00:00.000", "owner"],
  ] as const) {
    const rule = { review: false, overCents: null, where: null, by: [role], quorum: 1 };
    await store.transaction((trx) =>
      applyPlaybook(trx, {
        ...{ name: "weekly", kind: "pay-run", business: "acme", text: role },
        compiled: payRunPlaybook({ business: "acme", approve: [rule] }),
        ...{ author: "Eve", authorTokenId: null, nowMs: at(time) - 1 },
      }),
    );
  }
  for (const [name, role] of [
    ["Cora", "controller"],
    ["Olga", "owner"],
    ["Eve", "owner"],
  ] as const) {
    await confirmedToken(store, { name, roles: [role], createdBy: "Ada", nowMs: at("00:00:01") });
  }
  await store.close();
}

interface Access {
  readonly items: readonly {
    readonly revision: number;
    readonly rules: readonly { readonly people: readonly { name: string; isAuthor: boolean }[] }[];
  }[];
}

/** Returns who could approve, revision by revision; an author's name ends with a star. */
async function access(at: string, profile = ""): Promise<string[]> {
  const lines = ["apiUrl: https://payments.example.com", "businessId: biz", "token: t", profile];
  const profiles = join(folder, "profiles.yaml");
  const text = `businesses:\n  acme:\n${lines.map((line) => `    ${line}`).join("\n")}\n`;
  await writeFile(profiles, text);
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "audit", "access", "--at", at];
  const env = { PATH: process.env["PATH"], PAYRUN_HOME: folder, PAYRUN_PROFILES: profiles };
  const options = { cwd: folder, env };
  const ended = await promisify(execFile)(process.execPath, [...args, "--json"], options);
  const { items } = JSON.parse(ended.stdout) as Access;
  return items.map(({ revision, rules }) => {
    const people = rules.flatMap((rule) => rule.people);
    const names = people.map(({ name, isAuthor }) => (isAuthor ? `${name}*` : name));
    return `${revision}: ${names.toSorted().join(", ")}`;
  });
}

test("access on a day lists each revision in force on it, and marks its author", async () => {
  await fill();
  expect(await access(DAY)).toEqual(["2: Eve*, Olga", "1: Cora"]);
  expect(await access(`${DAY}T09:00:00Z`)).toEqual(["1: Cora"]);
  expect(await access("2026-11-21")).toEqual(["2: Eve*, Olga"]);
  expect(await access("2026-11-18")).toEqual([]);
});

test("if a business says that it is one person's, its author's approval counts", async () => {
  await fill();
  expect(await access("2026-11-21", "approvals: single-person")).toEqual(["2: Eve, Olga"]);
});
