import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { fundingIncidentId } from "../../src/contracts/workflow-kinds.ts";
import { keepNames } from "../../src/store/names/names.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { listNotices, raiseNotice } from "../../src/store/notices/notices.ts";
import { routeNotice } from "../../src/store/notices/notice-deliveries.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import type { TestGateway } from "./support/gateway.ts";
import { setLine } from "./support/rows.ts";
import { ospreyTest as test } from "./support/osprey.ts";
import { typedBy } from "./support/typed.ts";

/** Problems that a controller and an engineer had, tested with the commands that they typed. */

function as(gateway: TestGateway, name: string, roles: readonly string[], args: readonly string[]) {
  return typedBy(gateway, { name, roles }, args);
}

test("validate names a mistyped role in a playbook, with the one that was probably meant", async ({
  gateway,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-roles-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "rent.yaml");
  writeFileSync(file, "kind: pay-run\napprove:\n  - { by: [controler] }\n");
  await gateway.token("cora", ["controller"]);
  const warned = await as(gateway, "root", ["admin"], ["validate", file]);
  expect(warned.code).toBe(0);
  expect(warned.stderr).toMatch(/rent\.yaml: asks for an approval by controler, and nobody has/);
  expect(warned.stderr).toContain("did you mean controller?");
  const { stderr, json } = await as(gateway, "root", ["admin"], ["validate", file, "--json"]);
  expect(json()).toMatchObject({
    ok: true,
    playbooks: [{ warnings: [expect.stringContaining("did you mean controller?")] }],
  });
  expect(stderr).not.toContain("\n\n");
  writeFileSync(file, "kind: pay-run\napprove:\n  - { by: [controller] }\n");
  expect((await as(gateway, "root", ["admin"], ["validate", file])).stderr).toBe("");
});

test("a file that a launcher may not apply is refused with how to launch what is applied", async ({
  gateway,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-launch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "rent.yaml");
  writeFileSync(file, "kind: pay-run\napprove:\n  - { by: [controller] }\n");
  const none = await as(gateway, "lena", ["launcher"], ["launch", file]);
  expect(none.code).toBe(1);
  expect(none.stderr).toMatch(
    /^error: a file is applied before .* only an administrator may apply it\. This needs .* admin; lena has launcher\.\n/,
  );
  expect(none.stderr).not.toContain("payrun launch rent");
  await storePlaybook(gateway.store, {
    ...{ name: "rent", text: "kind: pay-run\napprove:\n  - { by: [controller] }\n" },
  });
  const { stderr } = await as(gateway, "lena", ["launcher"], ["launch", file]);
  expect(stderr).toContain("payrun launch rent” launches what is applied.");
});

test("a token can be confirmed by its holder's name, and an unknown name is refused with a way out", async ({
  gateway,
}) => {
  const made = await as(
    gateway,
    "ada",
    ["admin"],
    ["token", "create", "cora", "--role", "controller"],
  );
  expect(made).toMatchObject({ code: 0 });
  expect(await as(gateway, "bea", ["admin"], ["token", "confirm", "cora"])).toMatchObject({
    code: 0,
  });
  for (const text of ["cora", "tok_nonsense"]) {
    const again = await as(gateway, "bea", ["admin"], ["token", "confirm", text]);
    expect(again.code).not.toBe(0);
    expect(again.stderr).toMatch(/payrun token list” shows them/);
  }
});

test("a token is confirmed and revoked by its name in any spelling, as names are compared everywhere", async ({
  gateway,
}) => {
  await as(gateway, "ada", ["admin"], ["token", "create", "Cora", "--role", "controller"]);
  expect((await as(gateway, "bea", ["admin"], ["token", "confirm", "CORA"])).code).toBe(0);
  const revoked = await as(gateway, "bea", ["admin"], ["token", "revoke", "cora"]);
  expect([revoked.code, revoked.stdout]).toEqual([0, expect.stringContaining("✓ revoked tok_")]);
});

test("renewing a token says that the old one no longer counts, and where the new one goes", async ({
  gateway,
}) => {
  const renewed = await as(gateway, "cora", ["viewer"], ["token", "renew"]);
  expect(renewed.stdout).toMatch(/^payrun_\S+\n$/);
  expect(renewed.stderr).toContain("The old one no longer counts: set PAYRUN_TOKEN to this one.");
});

test("an unknown playbook is refused with the one that was probably meant", async ({ gateway }) => {
  for (const text of ["week", "weekley"]) {
    const refused = await as(gateway, "oli", ["viewer"], ["playbook", "show", text]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`There is no playbook “${text}”, did you mean weekly?`);
  }
});

test("the end of a hold is shown in the profile's zone", async ({ gateway }) => {
  const held = await as(
    gateway,
    "oli",
    ["operator"],
    [...["hold", "BILL-000071", "--until", "12h", "--reason", "odd"]],
  );
  expect(held.stdout).toMatch(
    /it ends \w+, \w+ \d+, \d+:\d\d [AP]M Chicago; .*payrun release hold_/,
  );
  expect((await as(gateway, "oli", ["operator"], ["holds"])).stdout).toMatch(/[AP]M Chicago/);
});

test("a notice that no channel took is not shown as having reached anybody", async ({
  gateway,
  run,
}) => {
  await raiseNotice(gateway.store.db, {
    ...{ businessId: "biz_acme", kind: "approval-needed", factKey: "fact", text: "", data: {} },
    ...{ subject: "1 bill waits for approval", roles: ["controller"], runId: run.runId },
    nowMs: Date.now(),
  });
  const [notice] = await listNotices(gateway.store.db, { limit: 1 });
  if (notice === undefined) throw new Error("nobody was told");
  await gateway.store.transaction((trx) => routeNotice(trx, notice, [], null, Date.now()));
  const all = await as(gateway, "oli", ["operator"], ["notices"]);
  expect(all.stdout).toMatch(/approval-needed +nobody +1 bill waits for approval/);
  const waiting = await as(gateway, "oli", ["operator"], ["notices", "--undelivered"]);
  expect(waiting.stdout).toContain("those that no channel took: they reached nobody");
});

test("notices are found by a run's short name only, with times in the profile's zone", async ({
  gateway,
  run,
}) => {
  await raiseNotice(gateway.store.db, {
    ...{ businessId: "biz_acme", kind: "approval-needed", factKey: "fact", text: "", data: {} },
    ...{ subject: "1 bill waits for approval", roles: ["controller"], runId: run.runId },
    nowMs: Date.parse("2026-11-23T15:00:00Z"),
  });
  const oli = (args: readonly string[]) => as(gateway, "oli", ["operator"], ["notices", ...args]);
  const { stdout } = await oli(["--run", "weekly"]);
  expect(stdout).toMatch(/^When \(Chicago\) .*\n2026-11-23 09:00:00 .* 1 bill waits .* +ntc_/);
  const unknown = await oli(["--run", "weekley"]);
  expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
  expect(unknown.stderr).toMatch(/there is no run “weekley”; the nearest:\n +weekly/);
});

test("an incident shows its code once, and its account by name", async ({ gateway }) => {
  const id = fundingIncidentId("acme", "bank_1");
  await gateway.store.transaction((trx) =>
    keepNames(trx, "biz_acme", [
      {
        ...{ kind: "account", id: "bank_1", number: "6789", name: "Operating" },
        ...{ contactId: null, amountCents: null },
      },
    ]),
  );
  await gateway.store.transaction((trx) =>
    openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "bank_1", workflowId: id },
      ...{ code: "R01", reason: "R01", roles: ["owner"] },
      ...{ nowMs: Date.now(), failedAtMs: Date.now() },
    }),
  );
  const { stdout } = await as(gateway, "oli", ["operator"], ["status", id]);
  expect(stdout).toContain(`Operating ··6789  open  ${id}\nacme · bounced first with R01\n`);
  expect((await as(gateway, "oli", ["operator"], ["status"])).stdout).not.toMatch(
    /incident.*\$0\.00/,
  );
  const listed = await as(gateway, "oli", ["operator"], ["incident"]);
  expect(listed.stdout).toMatch(/\nOperating ··6789 +open .* bank_1\n/);
  const all = await as(gateway, "oli", ["operator"], ["incident", "--json"]);
  expect(all.json()).toMatchObject({ items: [{ source: "bank_1", bills: 0, payments: [] }] });
  const decided = await as(gateway, "olga", ["owner"], ["incident", "Operating", "--released"]);
  expect(decided.stdout).toBe("✓ Operating ··6789: released\n");
});

test("releasing a vendor's hold names its bills that are still on hold by themselves", async ({
  gateway,
}) => {
  const oli = (args: readonly string[]) => as(gateway, "oli", ["operator"], args);
  await oli(["hold", "BILL-000071", "--reason", "odd"]);
  await oli(["hold", "--contact", "Osprey Robotics", "--reason", "odd"]);
  const vendor = await oli(["release", "Osprey Robotics"]);
  expect(vendor.stdout).toContain("released: every bill of Osprey Robotics");
  expect(vendor.stdout).toMatch(/still on hold: Osprey Robotics BILL-000071/);
  expect((await oli(["release", "BILL-000071"])).stdout).not.toContain("still on hold");
  await oli(["hold", "--contact", "Osprey Robotics", "--reason", "odd"]);
  const twice = await oli(["hold", "--contact", "Osprey Robotics", "--reason", "odd", "--json"]);
  const one = await oli(["release", (twice.json() as { id: string }).id]);
  expect(one.stdout).toMatch(/still on hold: every bill of Osprey Robotics/);
});

test("releasing the hold on a bill that was paid elsewhere says that the next run may pay it", async ({
  gateway,
  run,
}) => {
  const oli = (args: readonly string[]) => as(gateway, "oli", ["operator"], args);
  await setLine(gateway.store, run.runId, "p1", { state: "paid-elsewhere" });
  await oli(["hold", "BILL-000071", "--reason", "paid by wire"]);
  const { stdout } = await oli(["release", "BILL-000071"]);
  expect(stdout).toContain("it was paid elsewhere: the next run may pay it");
  expect(stdout).toContain("payrun hold BILL-000071 --reason … puts it on hold again");
});

test("lists of tokens, playbooks and revisions show times in the profile's zone", async ({
  gateway,
}) => {
  for (const words of [
    ["token", "list"],
    ["playbook", "list"],
    ["playbook", "history", "weekly"],
  ]) {
    const { code, stdout } = await as(gateway, "root", ["admin"], words);
    expect([code, stdout], words.join(" ")).toEqual([0, expect.stringContaining("(Chicago)")]);
  }
});

test("several holds on one bill are listed with their authors and reasons", async ({ gateway }) => {
  await as(gateway, "oli", ["operator"], ["hold", "BILL-000071", "--reason", "wrong sum"]);
  await as(gateway, "cora", ["controller"], ["hold", "BILL-000071", "--reason", "new vendor"]);
  const { code, stderr } = await as(gateway, "oli", ["operator"], ["release", "BILL-000071"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/oli: wrong sum +hold_/);
  expect(stderr).toMatch(/cora: new vendor +hold_/);
});

test("a hold on a run can be released by any of the run's names", async ({ gateway, run }) => {
  const { runId } = run;
  for (const name of ["weekly", `weekly/${runId.split("/").at(-1) ?? ""}`, runId]) {
    const oli = (args: readonly string[]) => as(gateway, "oli", ["operator"], args);
    expect((await oli(["hold", "--run", runId, "--reason", "odd"])).code).toBe(0);
    const released = await oli(["release", name]);
    expect(released.stdout, name).toContain(`released: run ${runId}`);
  }
});

test("a wrong flag value is refused in the command's own words, not the API's", async ({
  gateway,
}) => {
  const said = await as(
    gateway,
    "vic",
    ["viewer"],
    ["report", "--from", "x", "--to", "2026-11-30"],
  );
  expect(said).toMatchObject({ code: 2 });
  expect(said.stderr).toContain("--from must be a date, YYYY-MM-DD, not “x”");
  const payments = await as(gateway, "vic", ["viewer"], ["payments", "--since", "x"]);
  expect(payments.stderr).toMatch(/since must be a date/);
  expect(payments.stderr).not.toMatch(/query|parameter/i);
});
