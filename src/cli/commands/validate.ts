import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "@commander-js/extra-typings";

import { loadPlaybookFile } from "../../playbooks/load.ts";
import { formatProblems } from "../../playbooks/problem.ts";
import { EXIT } from "../terminal/cli-error.ts";
import { playbookFiles } from "./playbook-files.ts";
import { TokenListBody } from "../../api/tokens.ts";
import type { Playbook } from "../../contracts/playbook.ts";
import { unheldRoles } from "../../domain/approvals/roles-asked.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import type { CommandContext, CliSession } from "../client/session.ts";
import { green, printable, yellow } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";

export function addValidateCommand(program: Command, session: CliSession): void {
  program
    .command("validate")
    .description("check playbooks, without anything running")
    .argument("<file...>", "playbook files, or folders of them")
    .option("--json", "print one JSON document")
    .action((files, options) =>
      session.run(options, async (context) => {
        const { output } = context;
        const results = [];
        const held = await heldRoles(context);
        for (const file of await playbookFiles(files)) {
          const loaded = await loadPlaybookFile(file);
          if (loaded.ok) output.line(`${green("✓")} ${printable(file)}: ${loaded.playbook.name}`);
          else if (!output.json) output.note(`${formatProblems(loaded.problems)}\n`);
          const warnings = loaded.ok
            ? [
                ...loaded.warnings.map(({ line, message }) => `line ${line}: ${message}`),
                ...roleWarnings(loaded.playbook, held),
              ]
            : [];
          for (const text of warnings)
            output.note(`${yellow("!")} ${printable(`${file}: ${text}`)}`);
          results.push({
            file,
            ok: loaded.ok,
            name: loaded.ok ? loaded.playbook.name : null,
            problems: loaded.ok ? [] : loaded.problems,
            warnings,
          });
        }
        const invalid = results.filter(({ ok }) => !ok);
        const mistakes = invalid.reduce((sum, { problems }) => sum + problems.length, 0);
        if (mistakes > 0 && !output.json) {
          output.note(`${counted(mistakes, "mistake")} in ${counted(invalid.length, "playbook")}`);
        }
        output.document({ ok: invalid.length === 0, playbooks: results });
        return invalid.length === 0 ? EXIT.done : EXIT.usage;
      }),
    );
}

/** The roles that people have, as far as a running gateway or the profiles show them. */
interface Held {
  readonly roles: ReadonlySet<string>;
  /** True if these are all the roles that people have. */
  readonly isAll: boolean;
}

/** The longest wait for the gateway: a playbook can be checked while nothing is running. */
const PATIENCE_MS = 3_000;

async function heldRoles({ config }: CommandContext): Promise<Held> {
  try {
    const settings = config();
    const named = settings.profiles
      .all()
      .flatMap(({ signers = [], identities = [], notify }) => [
        ...[...signers, ...identities].flatMap(({ roles }) => roles),
        ...(notify?.channels ?? []).flatMap(({ roles }) => roles ?? []),
      ]);
    const asked = gatewayOf(settings).get("/v1/tokens", TokenListBody);
    const tokens = await Promise.race([
      asked.catch(() => undefined),
      sleep(PATIENCE_MS, undefined),
    ]);
    const ofTokens = (tokens?.items ?? []).flatMap(({ state, roles }) =>
      state === "revoked" || state === "expired" ? [] : roles,
    );
    return { roles: new Set([...named, ...ofTokens]), isAll: tokens !== undefined };
  } catch {
    // Another command reports settings that can't be used.
    return { roles: new Set(), isAll: false };
  }
}

function roleWarnings(playbook: Playbook, { roles, isAll }: Held): string[] {
  return unheldRoles(playbook, roles)
    .filter(({ meant }) => isAll || meant.length > 0)
    .map(({ by, meant }) => {
      const guess = meant.length === 0 ? "" : `; did you mean ${meant.join(", ")}?`;
      return `asks for an approval by ${by.join(" or ")}, and nobody has that role${guess}`;
    });
}
