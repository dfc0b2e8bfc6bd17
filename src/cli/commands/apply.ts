import type { Command } from "@commander-js/extra-typings";

import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { gatewayOf, type GatewayClient, ofBusiness } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import {
  sendPlaybook,
  playbookFiles,
  type ReadPlaybook,
  readPlaybooks,
  waitsForSecond,
} from "./playbook-files.ts";
import type { CliSession } from "../client/session.ts";
import { diffLines } from "../show/diff.ts";
import { green, printable, yellow } from "../terminal/text.ts";
import { type Schedule, ScheduleListBody } from "../../api/schedules.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { type AppliedPlaybook, PlaybookRevisionsBody } from "../../api/schemas.ts";

export function addApplyCommand(program: Command, session: CliSession): void {
  program
    .command("apply")
    .description(
      "store playbooks and their schedules, each under its file's name; administrators only",
    )
    .argument("<file...>", "playbook files, or folders of them")
    .option(
      "--check",
      "change nothing: exit 1 if a file or its schedule differs from what is stored",
    )
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((files, options) =>
      session.run(options, async ({ output, config }) => {
        // All files are read before any is stored: a mistake in one prevents storing all of them.
        const playbooks = await readPlaybooks(await playbookFiles(files));
        const gateway = gatewayOf(config());
        return options.check === true
          ? check(output, gateway, playbooks)
          : apply(output, gateway, playbooks);
      }),
    );
}

async function apply(
  output: Output,
  gateway: GatewayClient,
  playbooks: readonly ReadPlaybook[],
): Promise<ExitCode> {
  const applied: AppliedPlaybook[] = [];
  for (const playbook of playbooks) {
    const before = await revisionInForce(gateway, playbook);
    const now = await sendPlaybook(gateway, playbook).catch((error: unknown) => {
      throw stoppedAt(playbook, applied, error);
    });
    applied.push(now);
    output.line(appliedText(now));
    if (now.note !== undefined) output.line(yellow(printable(now.note)));
    if (now.changed && before !== undefined) {
      output.lines(diffLines(before.text, playbook.text));
    }
  }
  const proposed = applied.filter(({ proposal }) => proposal !== undefined);
  if (proposed.length > 0) throw waitsForSecond(proposed);
  output.document({ applied });
  return EXIT.done;
}

function appliedText({ name, revision, changed, proposal }: AppliedPlaybook): string {
  if (proposal !== undefined) return `${yellow("!")} ${name} is proposed as revision ${revision}`;
  return `${green("✓")} ${name}, revision ${revision}${changed ? "" : " as before"}`;
}

/**
 * Adds to the error what was stored and what wasn't. The stored playbooks stay; applying all files
 * again continues where it stopped.
 */
function stoppedAt(
  { name }: ReadPlaybook,
  applied: readonly AppliedPlaybook[],
  error: unknown,
): unknown {
  if (!(error instanceof CliError) || applied.length === 0) return error;
  const { exitCode, message, code, hint = "", details } = error;
  const stored = `${applied.map((each) => each.name).join(", ")} ${applied.length === 1 ? "is" : "are"} stored, but ${name} and what follows it are not: apply all of them again once this is fixed.`;
  const all = { code, details, hint: `${hint} ${stored}`.trim() };
  return new CliError(exitCode, `${name}: ${message}`, all);
}

/** Compares each file with the revision in force, and its schedule with the one at Temporal. */
async function check(
  output: Output,
  gateway: GatewayClient,
  playbooks: readonly ReadPlaybook[],
): Promise<ExitCode> {
  const checked = [];
  for (const playbook of playbooks) {
    const { name, text } = playbook;
    const stored = await revisionInForce(gateway, playbook);
    const changed = stored?.text !== text;
    const schedule = changed ? undefined : await scheduleOf(gateway, playbook);
    const drifted = schedule?.state === "missing" || schedule?.state === "differs";
    checked.push({
      name,
      revision: stored?.revision ?? null,
      changed,
      schedule: schedule?.state ?? null,
    });
    if (!changed && !drifted) {
      const held = schedule?.paused === true ? ", and paused" : "";
      output.line(`${green("✓")} ${printable(name)} is revision ${stored.revision}${held}`);
      continue;
    }
    const why =
      stored === undefined
        ? "is not stored yet"
        : drifted
          ? `is revision ${stored.revision}, but its schedule at Temporal ${schedule.state === "missing" ? "is missing" : "differs"}`
          : `differs from revision ${stored.revision}`;
    output.line(`${yellow("!")} ${printable(name)} ${why}`);
    if (stored !== undefined && changed) output.lines(diffLines(stored.text, text));
  }
  output.document({ applied: [], checked });
  const differs = checked.some(
    ({ changed, schedule }) => changed || schedule === "missing" || schedule === "differs",
  );
  return differs ? EXIT.failed : EXIT.done;
}

async function scheduleOf(
  gateway: GatewayClient,
  { name, business }: ReadPlaybook,
): Promise<Schedule | undefined> {
  const path = ofBusiness(`/v1/schedules?playbook=${encodeURIComponent(name)}`, business);
  return (await gateway.get(path, ScheduleListBody)).items[0];
}

async function revisionInForce(
  gateway: GatewayClient,
  { name, business }: ReadPlaybook,
): Promise<{ readonly revision: number; readonly text: string } | undefined> {
  try {
    const path = ofBusiness(`/v1/playbooks/${encodeURIComponent(name)}`, business);
    return (await gateway.get(path, PlaybookRevisionsBody)).items[0];
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") return undefined;
    throw error;
  }
}
