import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { playbookHere } from "../../../src/cli/home/playbook-here.ts";
import { payrun, temporaryFolder } from "../cli.ts";

test("up suggests the playbook that init wrote in the folder, or else Payrun's example", async () => {
  const cwd = temporaryFolder();
  expect(playbookHere(cwd)).toMatchObject({
    name: "weekly-vendors",
    path: expect.stringMatching(/playbooks.weekly-vendors\.yaml$/),
  });
  const init = ["init", "--yes", "--playbook", "rent-first-of-month", "--approver", "cfo"];
  expect((await payrun(init, { cwd, env: {} })).code).toBe(0);
  expect(playbookHere(cwd)).toEqual({
    name: "rent-first-of-month",
    path: "rent-first-of-month.yaml",
    roles: ["cfo"],
  });
});

test("playbooks/NAME.yaml is Payrun's example, unless the folder has such a file", async () => {
  const cwd = temporaryFolder();
  const file = "playbooks/retry-failed.yaml";
  const { code, stdout } = await payrun(["validate", file], { cwd, env: {} });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("retry-failed") });
  const none = await payrun(["validate", "playbooks/nonsense.yaml"], { cwd, env: {} });
  expect(none.code).toBe(2);
  mkdirSync(join(cwd, "playbooks"));
  writeFileSync(join(cwd, file), "kind: nonsense\n");
  expect((await payrun(["validate", file], { cwd, env: {} })).code).toBe(2);
});
