import type { Command } from "@commander-js/extra-typings";

import { DAY_MS } from "../../contracts/durations.ts";
import type { Config } from "../../config.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { type AccessSpan, accessTo, type RuleAccess } from "../../domain/approvals/access.ts";
import type { Store } from "../../store/index.ts";
import {
  authorsOf,
  listPlaybooks,
  playbookRevisions,
  type StoredPlaybook,
} from "../../store/playbooks/playbooks.ts";
import { listTokens } from "../../store/approvals/tokens.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { CliSession } from "../client/session.ts";
import { bold, dim, printable, yellow } from "../terminal/text.ts";
import { withStore } from "./with-store.ts";

interface PlaybookAccess {
  readonly business: string;
  readonly playbook: string;
  readonly revision: number;
  /** True if the profile currently lets one person launch and approve. */
  readonly singlePerson: boolean;
  readonly rules: readonly RuleAccess[];
}

export function addAuditAccessCommand(audit: Command, session: CliSession): void {
  audit
    .command("access")
    .description("who could approve what on a day, by the tokens and playbooks of that day")
    .requiredOption("--at <date>", "a day (UTC), YYYY-MM-DD, or an instant")
    .option("--business <name>", "only this one")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const span = spanOf(options.at);
        const settings = config();
        const profiles = profilesOf(settings, options.business);
        const items = await withStore(settings, async (store) => {
          const all = profiles.map((profile) => accessOf(store, settings, profile, span));
          return (await Promise.all(all)).flat();
        });
        output.lines(items.flatMap(linesOf));
        if (items.length === 0) output.line("No playbook that pays bills was stored then.");
        output.note(dim("Keys of signers and identities are those that the profiles have now."));
        output.document({ at: options.at, items });
      }),
    );
}

function profilesOf({ profiles }: Config, name: string | undefined): readonly BusinessProfile[] {
  if (name === undefined) return profiles.all();
  const profile = profiles.get(name);
  if (profile !== undefined) return [profile];
  const known = profiles.all().map((each) => each.name);
  throw usageError(`no business is called “${name}”`, `There is ${known.join(", ") || "none"}.`);
}

async function accessOf(
  { db }: Store,
  { profiles }: Config,
  { name: business, signers = [], identities = [], singlePerson = false }: BusinessProfile,
  span: AccessSpan,
): Promise<PlaybookAccess[]> {
  const tokens = await listTokens(db);
  const sandboxesOnly = profiles.sandboxesOnly();
  const found: PlaybookAccess[] = [];
  for (const { name } of await listPlaybooks(db, business)) {
    const revisions = await playbookRevisions(db, { business, name });
    for (const { revision, compiled: playbook } of inForce(revisions, span)) {
      if (playbook.kind !== "pay-run") continue;
      const at = { business, playbook: name, playbookRevision: revision };
      const authors = singlePerson ? [] : await authorsOf(db, at);
      const facts = { business, sandboxesOnly, tokens, signers, identities, playbook, authors };
      const rules = accessTo(facts, span);
      found.push({ business, playbook: name, revision, singlePerson, rules });
    }
  }
  return found;
}

/**
 * Returns the revisions that were in force at any moment of a span, the latest first.
 *
 * @param revisions latest first
 */
function inForce(
  revisions: readonly StoredPlaybook[],
  { fromMs, toMs }: AccessSpan,
): readonly StoredPlaybook[] {
  const begun = revisions.filter(({ createdAtMs }) => createdAtMs <= toMs);
  const atFirst = begun.findIndex(({ createdAtMs }) => createdAtMs <= fromMs);
  return atFirst < 0 ? begun : begun.slice(0, atFirst + 1);
}

function linesOf({ business, playbook, revision, singlePerson, rules }: PlaybookAccess): string[] {
  return [
    `${bold(printable(playbook))} of ${printable(business)}, revision ${revision}`,
    ...(singlePerson ? [yellow("  approvals: single-person, as the profile says now")] : []),
    ...rules.flatMap(({ what, roles, quorum, people }) => [
      `  ${printable(what)}: ${quorum} of ${roles.join(", ")}`,
      ...people.map(({ name, by, isAuthor }) => {
        const note = isAuthor ? ", whose approval doesn't count: wrote the playbook" : "";
        return `    ${printable(name)} (${by.join(", ")})${note}`;
      }),
      ...(people.length === 0 ? ["    nobody"] : []),
    ]),
  ];
}

function spanOf(text: string): AccessSpan {
  const fromMs = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(fromMs)) {
    throw usageError(`--at can't be “${text}”`, "A date YYYY-MM-DD, or an ISO 8601 instant.");
  }
  return { fromMs, toMs: /^\d{4}-\d{2}-\d{2}$/.test(text) ? fromMs + DAY_MS - 1 : fromMs };
}
