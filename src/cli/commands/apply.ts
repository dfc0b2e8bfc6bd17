import type { Command } from "@commander-js/extra-typings";

import { CliError, EXIT, type ExitCode } from "../cli-error.ts";
import { gatewayOf, type GatewayClient } from "../gateway-client.ts";
import { playbookRevisions } from "../gateway-shapes.ts";
import type { Output } from "../output.ts";
import { applyPlaybook, readPlaybook, type ReadPlaybook } from "../playbook-files.ts";
import type { Session } from "../session.ts";
import { green, printable, yellow } from "../text.ts";

export function addApplyCommand(program: Command, session: Session): void {
  program
    .command("apply")
    .description("store playbooks, each under its file's name: an administrator's act")
    .argument("<file...>", "playbook files")
    .option("--check", "change nothing: exit 1 where a file differs from what is stored")
    .option("--json", "print one JSON document")
    .action((files, options) =>
      session.run(options, async ({ output, config }) => {
        // All are read before any is stored: a mistake in one stores none.
        const playbooks = await Promise.all(files.map((file) => readPlaybook(file)));
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
  const applied = [];
  for (const playbook of playbooks) applied.push(await applyPlaybook(gateway, playbook));
  for (const { name, revision, changed } of applied) {
    output.line(`${green("✓")} ${name}, revision ${revision}${changed ? "" : " as before"}`);
  }
  output.document({ applied });
  return EXIT.done;
}

/** Compares each file with the revision in force; one that was never stored differs as well. */
async function check(
  output: Output,
  gateway: GatewayClient,
  playbooks: readonly ReadPlaybook[],
): Promise<ExitCode> {
  const checked = [];
  for (const { name, text } of playbooks) {
    const stored = await revisionInForce(gateway, name);
    checked.push({ name, revision: stored?.revision ?? null, changed: stored?.text !== text });
  }
  for (const { name, revision, changed } of checked) {
    const stored = revision === null ? "is not stored yet" : `differs from revision ${revision}`;
    output.line(
      changed
        ? `${yellow("!")} ${printable(name)} ${stored}`
        : `${green("✓")} ${printable(name)} is revision ${revision}`,
    );
  }
  output.document({ applied: [], checked });
  return checked.some(({ changed }) => changed) ? EXIT.failed : EXIT.done;
}

async function revisionInForce(
  gateway: GatewayClient,
  name: string,
): Promise<{ readonly revision: number; readonly text: string } | undefined> {
  try {
    const path = `/v1/playbooks/${encodeURIComponent(name)}`;
    return (await gateway.get(path, playbookRevisions)).items[0];
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") return undefined;
    throw error;
  }
}
