import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { OnboardingStatus } from "../../src/api/onboardings.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { payrun as cli, type CliResult } from "../cli/cli.ts";
import { commandsOf, pageText } from "../support/docs.ts";
import { PLANTED, untilOnboarding, untilWaitsIn } from "../support/onboarding.ts";
import { stacks } from "../support/stack.ts";

const start = stacks();

test("the page's commands take a business to verified with the page's files and the example playbook", async () => {
  const payrun = await start({ fixture: "unverified" });
  const folder = await mkdtemp(join(tmpdir(), "payrun-kyb-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const text = pageText("docs/kyb-onboarding.md").replaceAll("acme", "default");
  for (const [, name = "", json = ""] of text.matchAll(
    /^\*\*(\S+\.json)\*\*.*\n```json\n([^`]+)```/gm,
  )) {
    await writeFile(join(folder, name), json);
  }
  const example = new URL("../../playbooks/kyb-onboarding.yaml", import.meta.url);
  const playbook = (await readFile(example, "utf8")).replace(
    "bankAccount: micro-deposits",
    "bankAccount: none",
  );
  await writeFile(join(folder, "kyb-onboarding.yaml"), playbook);
  await writeFile(join(folder, "letter.pdf"), PLANTED.letter);
  await mkdir(join(folder, "home"));
  const env = { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: payrun.tokenOf("admin") };
  const run = (line: string): Promise<CliResult> =>
    cli(line.split(" ").slice(1), { env, cwd: folder });
  const commands = commandsOf("docs/kyb-onboarding.md").map((line) =>
    line.replaceAll("acme", "default"),
  );
  expect(commands).toHaveLength(6);
  for (const line of commands) {
    const isAct = /signature|certification/.test(line);
    if (isAct) expect(await run(line)).toMatchObject({ code: 2 });
    const { code, stdout, stderr } = await run(isAct ? `${line} --yes` : line);
    expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
    if (line.includes("signature")) expect(stderr).toContain("Under penalties of perjury");
    expect(stdout + stderr).not.toContain("98-7654321");
  }
  // Each legal act is bound to the text that the command has shown.
  const { businessId } = payrun.sandbox.business;
  const trail = await listAudit(payrun.store.db, { businessId });
  const acts = trail.filter(({ action }) => /signed|certified/.test(action));
  expect(acts.map(({ details }) => details["textConfirmed"])).toEqual([true, true]);
  await untilWaitsIn(payrun, "review");
  await payrun.sandbox.control.changeBusiness({ verification: "document" });
  await untilWaitsIn(payrun, "documents");
  expect(text).toContain("payrun provide default documents --file letter.pdf");
  const sent = await run("payrun provide default documents --file letter.pdf");
  expect(sent.code, sent.stderr).toBe(0);
  await untilWaitsIn(payrun, "review");
  await payrun.sandbox.control.changeBusiness({ verification: "verified" });
  await untilOnboarding(payrun, "verified", ({ ended }) => ended);
  const shown = await run("payrun status kyb-onboarding/default");
  expect(shown.stdout).toContain("payrun apply weekly-vendors.yaml");
  const status = (
    await run("payrun status kyb-onboarding/default --json")
  ).json<OnboardingStatus>();
  expect(status).toMatchObject({ kind: "kyb-onboarding", phase: "verified", ended: true });
  const misplaced = await run("payrun approve kyb-onboarding/default --yes");
  expect([misplaced.code, misplaced.stderr]).toEqual([
    2,
    expect.stringContaining("is not a pay run but a kyb-onboarding"),
  ]);
  const list = await run("payrun status");
  expect(list.stdout).toContain("kyb-onboarding/default");
  await writeFile(join(folder, "weekly-vendors.yaml"), status.proposal?.text ?? "");
  // Nothing is scheduled before a person applies the playbook.
  expect((await run("payrun schedule list")).stdout).not.toContain("weekly-vendors");
  expect((await run("payrun apply weekly-vendors.yaml")).code).toBe(0);
  expect((await run("payrun schedule list")).stdout).toContain("weekly-vendors");
});

test("a file that can't be used is refused without showing its contents", async () => {
  const folder = await mkdtemp(join(tmpdir(), "payrun-kyb-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "tax.json"), `{ "ein": "${PLANTED.ein}" `);
  const provide = (...args: string[]) => cli(["provide", "acme", ...args], { cwd: folder });
  await writeFile(join(folder, "list.json"), '{ "documents": ["letter.pdf"] }');
  for (const [args, said] of [
    [["documents", "--file", "list.json"], "a document needs “file”"],
    [["tax", "--file", "tax.json"], "not valid JSON"],
    [["tax", "--file", "none.json"], "can't be read"],
    [["taxes", "--file", "tax.json"], "is not a step"],
    [["documents", "--file", "tax.json"], "neither a PDF, PNG or JPEG nor valid JSON"],
  ] as const) {
    const { code, stderr } = await provide(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(PLANTED.ein);
  }
});
