import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { listRuns } from "../../src/store/runs/runs.ts";
import { payrun as cli, type CliResult } from "../cli/cli.ts";
import { checkTrail } from "../support/check-trail.ts";
import { commandsOf, pageText, wordsOf } from "../support/docs.ts";
import { stacks } from "../support/stack.ts";

const start = stacks();

/** Fills in a command's placeholders, and takes its options in brackets. */
function filledIn(command: string, values: Readonly<Record<string, string>>): string[] {
  const whole = command.replace(/\[([^\]]*)\]/g, "$1");
  return wordsOf(whole).map((word) => values[word] ?? word);
}

test("the README's commands run a new playbook to its end, the audit page's prove it, and the store moves", async () => {
  const payrun = await start({ fixture: "sample" });
  const cwd = payrun.home;
  // The two people whose tokens `payrun up` leaves in its home.
  await mkdir(join(cwd, "people"));
  await writeFile(join(cwd, "admin.token"), payrun.tokenOf("admin"));
  await writeFile(join(cwd, "gateway.url"), payrun.gatewayUrl);
  await writeFile(join(cwd, "people", "approver.token"), payrun.tokenOf("controller"));
  const run = async (words: readonly string[]): Promise<CliResult> => {
    const env = { ...payrun.env(), PAYRUN_GATEWAY_URL: payrun.gatewayUrl };
    const result = await cli(words, { cwd, env });
    expect(result.code, `${words.join(" ")}: ${result.stderr}`).toBe(0);
    return result;
  };
  const [, playbook = ""] = /<<'YAML'\n([\s\S]*?)YAML\n/.exec(pageText("README.md")) ?? [];
  await writeFile(join(cwd, "rent.yaml"), playbook);
  const commands = commandsOf("README.md");
  const moves = commands.filter((command) => command.includes("store copy"));
  expect([commands.length, moves.length]).toEqual([6, 1]);
  let runId = "";
  for (const command of commands.filter((each) => !moves.includes(each))) {
    if (command.includes(" watch ")) await payrun.sandbox.control.setScale(43_200);
    const words = wordsOf(command);
    // A reader sits at a terminal, where approve asks instead.
    const { stdout } = await run(words[0] === "approve" ? [...words, "--yes"] : words);
    if (words[0] === "launch") {
      runId = /pay-run\/\S+\d/.exec(stdout)?.[0] ?? "";
      await payrun.untilPhase(runId, "awaiting-approval");
    }
  }
  const done = await payrun.status(runId);
  expect(done.phase).toBe("completed");
  expect(done.counts.settled).toBeGreaterThan(0);

  const [verify = "", ends = "", dump = "", access = "", explain = "", whole = ""] =
    commandsOf("docs/audit.md");
  const verified = await run(["audit", "verify"]);
  const head = /its end is ([0-9a-f]{64})/.exec(verified.stdout)?.[1] ?? "";
  await run(filledIn(verify, { NAME: "default", HASH: head }));
  expect((await run(filledIn(ends, { NAME: "default" }))).stdout).toContain(head);
  const file = join(cwd, "since.jsonl");
  const values = { NAME: "default", DATE: "2026-01-01", RUN: "rent", FILE: file };
  await run(filledIn(dump, values));
  const [entry = ""] = (await readFile(file, "utf8")).split("\n");
  expect(JSON.parse(entry)).toMatchObject({ prevHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const today = new Date().toISOString().slice(0, 10);
  const could = await run(filledIn(access, { DATE: today, NAME: "default" }));
  expect(could.stdout).toContain("1 of controller");
  const settled = done.payments.find(({ state }) => state === "settled")?.payableId ?? "";
  const told = await run(filledIn(explain, { PAYABLE_ID: settled, NAME: "default" }));
  expect(told.stdout).toContain("Paid once");
  await run(wordsOf(whole));
  const checked = await checkTrail(await readFile(join(cwd, "trail.jsonl"), "utf8"), cwd);
  expect(checked).toMatchObject({ code: 0, printed: expect.stringContaining(`end is ${head}`) });

  await payrun.killWorkers();
  await payrun.stopGateway();
  await payrun.store.close();
  const target = `sqlite:${join(cwd, "moved.db")}`;
  const places = { $PAYRUN_DATABASE_URL: target, "sqlite:.payrun/payrun.db": payrun.databaseUrl };
  await run(filledIn(moves[0] ?? "", places));
  const moved = await openStore(target);
  try {
    const runs = await listRuns(moved.db, { limit: 10 });
    expect(runs.map((each) => [each.runId, each.phase])).toEqual([[runId, "completed"]]);
  } finally {
    await moved.close();
    // The stack closes it once more when it ends.
    await payrun.openStore();
  }
});
