import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { playbookHere } from "../../../src/cli/home/playbook-here.ts";
import { payrun, temporaryFolder } from "../cli.ts";

test("what up suggests is the playbook that init has written there, else the example that comes with Payrun", async () => {
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

test("the pages' playbooks/NAME.yaml is the example that comes with Payrun, unless the folder has one", async () => {
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
