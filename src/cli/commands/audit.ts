import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { Client } from "@temporalio/client";
import type { Command } from "@commander-js/extra-typings";

import type { AuditHead } from "../../contracts/activities.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { spokenSecond } from "../../domain/clock/spoken.ts";
import type { Config } from "../../config.ts";
import {
  type AuditRow,
  auditedBusinesses,
  rowsOf,
  hasEntry,
  verifyTrail,
} from "../../store/audit/audit-trail.ts";
import { differencesOf } from "../../store/audit/audit-compare.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import type { Store } from "../../store/index.ts";
import { provenHeads } from "../../store/janitor/heads.ts";
import { runNamed } from "../../store/names/run-named.ts";
import { seenAuditHeads } from "../../temporal/audit-heads.ts";
import { dataConverterOf } from "../../temporal/codec.ts";
import { lazyConnection } from "../../temporal/connection.ts";
import { CliError, EXIT, errorReason, usageError } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import { temporalOf } from "../home/running-file.ts";
import type { CliSession } from "../client/session.ts";
import { addAuditAccessCommand } from "./audit-access.ts";
import { addAuditHeadCommand } from "./audit-head.ts";
import { businessIds } from "./audited-ids.ts";
import { dim, green, printable, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { withStore } from "./with-store.ts";

/** `payrun audit …`: the hash-chained trail of everything that was decided and done. */
export function addAuditCommand(program: Command, session: CliSession): void {
  const audit = program
    .command("audit")
    .description(
      "verify and export the audit trail, and who could approve what, on the store's host",
    );
  addVerify(audit, session);
  addAuditHeadCommand(audit, session);
  addExport(audit, session);
  addAuditAccessCommand(audit, session);
}

function addVerify(audit: Command, session: CliSession): void {
  audit
    .command("verify")
    .description(
      "recompute the whole trail, and compare the store with it: exit 1 if an entry was changed, removed or moved, or if they differ",
    )
    .option(
      "--business <name>",
      "only this one, by its name or id; default: every one that has a trail",
    )
    .option(
      "--head <hash>",
      "a hash that was once the end of the trail; shows whether the end was cut off; may be repeated",
      collect,
    )
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const noted = (options.head ?? []).map(hashOf);
        const verified = await withStore(settings, async (store) => {
          const ids = await businessIds(settings, store, options.business);
          const ofBusinesses = ids.filter((id) => id !== STORE_TRAIL);
          if (noted.length > 0 && ofBusinesses.length > 1) {
            throw usageError("--head belongs to one business", "Say which with --business.");
          }
          return Promise.all(
            ids.map((id) => verifyOne(settings, store, id, isOwn(id, ids) ? noted : [])),
          );
        });
        // A business for which nothing was done yet has no trail, and needs none.
        const trails = verified.filter(
          ({ entries, problems }) => entries > 0 || problems.length > 0,
        );
        for (const { businessId, entries, head, problems, compared, noted: named } of trails) {
          const zone = settings.profiles.byBusinessId(businessId)?.zone;
          const broken = problems.length > 0;
          output.line(
            `${broken ? red("✗") : green("✓")} ${nameOf(settings, businessId)}: ${entriesText(entries)}, ${broken ? counted(problems.length, "problem") : "whole"}`,
          );
          for (const { at, text, action, subject } of problems.slice(0, PROBLEMS_SHOWN)) {
            const about = action === null ? "" : ` It says: ${action} of ${subject ?? ""}.`;
            // A missing trail has no entry, so the problem has no time to show.
            const when = at === "" ? "" : `${spokenSecond(at, zone)}  `;
            output.line(`  ${when}${printable(text)}${printable(about)}`);
          }
          const more = problems.length - PROBLEMS_SHOWN;
          if (more > 0) output.line(`  and ${counted(more, "more problem")}: --json has all.`);
          for (const { hash, found } of named) {
            output.line(
              `  it ${found ? "still has" : "does not have"} the entry of --head ${hash}`,
            );
          }
          if (head !== null) output.line(dim(`  its end is ${head}`));
          if (compared !== null) output.line(dim(`  ${compared}`));
        }
        if (trails.length === 0) output.line("There is no trail yet.");
        const ok = trails.every(({ problems }) => problems.length === 0);
        output.document({ ok, businesses: trails });
        return ok ? EXIT.done : EXIT.failed;
      }),
    );
}

/** A store that lost much must not fill the screen. */
const PROBLEMS_SHOWN = 50;

/**
 * True if the noted hashes are looked up in this trail: a business's, or the store's if it is the
 * only one.
 */
function isOwn(id: string, ids: readonly string[]): boolean {
  return id !== STORE_TRAIL || ids.length === 1;
}

/** Returns a business's name in its profile, with its id; only the id if no profile has it. */
function nameOf({ profiles }: Config, id: string): string {
  if (id === STORE_TRAIL) return `${id} (the store itself)`;
  const name = profiles.byBusinessId(id)?.name;
  return name === undefined ? printable(id) : `${printable(name)} ${dim(printable(id))}`;
}

function entriesText(entries: number): string {
  return entries === 1 ? "1 entry" : `${entries} entries`;
}

async function verifyOne(
  config: Config,
  store: Store,
  businessId: string,
  noted: readonly string[],
): Promise<
  Awaited<ReturnType<typeof verifyTrail>> & {
    readonly compared: string | null;
    readonly noted: readonly { readonly hash: string; readonly found: boolean }[];
  }
> {
  const heads = new Map(noted.map((hash) => [hash, "Whoever noted --head"]));
  const profile = config.profiles.byBusinessId(businessId);
  let compared: string | null =
    businessId === STORE_TRAIL
      ? null
      : "its end was compared with nothing: no profile has this business";
  if (profile !== undefined) {
    const seen = await headsFromTemporal(config, profile.name);
    if (typeof seen === "string") compared = seen;
    else {
      const proven = await provenHeads(store.db, businessId, seen);
      for (const [runId, { hash }] of proven) heads.set(hash, runId);
      const others = seen.size - proven.length;
      const unproven =
        others === 0 ? "" : `; ${counted(others, "run")} had no proof of this store's`;
      compared = `its end was compared with what ${counted(proven.length, "run")} at work ${proven.length === 1 ? "has" : "have"} seen${unproven}`;
    }
  }
  const verified = await verifyTrail(store.db, businessId, heads);
  const differences = await differencesOf(store.db, {
    businessId,
    business: profile?.name ?? null,
  });
  // Other problems don't show whether the trail still has the noted entries.
  const looks = noted.map(async (hash) => ({
    hash,
    found: await hasEntry(store.db, businessId, hash),
  }));
  const problems = [...verified.problems, ...differences];
  return { ...verified, problems, compared, noted: await Promise.all(looks) };
}

async function headsFromTemporal(
  config: Config,
  business: string,
): Promise<ReadonlyMap<string, AuditHead> | string> {
  const { namespace } = config.temporal;
  const connection = lazyConnection(temporalOf(config));
  try {
    const dataConverter = dataConverterOf(config);
    return await seenAuditHeads(new Client({ connection, namespace, dataConverter }), business);
  } catch (error) {
    const why = errorReason(error).split("\n")[0] ?? "";
    return `its end was not compared with what runs have seen: Temporal can't be asked (${why})`;
  } finally {
    await connection.close();
  }
}

function addExport(audit: Command, session: CliSession): void {
  audit
    .command("export")
    .description("print the trail, one JSON object a line, first to last")
    .option("--business <name>", "needed only if there are several businesses")
    .option("--since <date>", "only entries since then: YYYY-MM-DD or an instant")
    .option(
      "--run <run>",
      "only what is about a run and its bills: rent, rent/2026-11-26 or its id",
    )
    .option("--output <file>", "write to a file that does not exist yet")
    .option("--json", "print one JSON document with all entries")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const sinceMs = options.since === undefined ? undefined : instantOf(options.since);
        const entries = await withStore(settings, async (store) => {
          const ids =
            options.business === undefined
              ? (await auditedBusinesses(store.db)).filter((id) => id !== STORE_TRAIL)
              : await businessIds(settings, store, options.business);
          const [businessId, ...others] = ids;
          if (businessId === undefined) return 0;
          if (others.length > 0) {
            throw usageError("several businesses have a trail", "Say which with --business.");
          }
          const runId =
            options.run === undefined
              ? undefined
              : await runMeant(settings, store, businessId, options.run);
          const filter = { businessId, sinceMs, runId };
          return writeEntries(store, filter, { file: options.output, asDocument: output.json });
        });
        output.note(dim(entriesText(entries)));
      }),
    );
}

/** An empty file must not pass for the trail of a run whose name was mistyped. */
async function runMeant(
  { profiles }: Config,
  { db }: Store,
  businessId: string,
  text: string,
): Promise<string> {
  const business = profiles.byBusinessId(businessId)?.name ?? businessId;
  const { run, near } = await runNamed(db, { businessId, business }, text);
  // The trail may have entries about a run that the store has lost.
  const runId = run?.id ?? text;
  const { done } = await rowsOf(db, { businessId, runId }).next();
  if (done !== true) return runId;
  const lines = near.map(({ id }) => `  ${printable(shortName(id))}  ${printable(id)}`);
  const what = `the trail has nothing about a run “${text}”${near.length === 0 ? "" : "; the nearest:"}`;
  throw new CliError(EXIT.usage, [what, ...lines].join("\n"), {
    code: "not_found",
    hint: "“payrun status” lists the runs with their ids.",
  });
}

async function writeEntries(
  store: Store,
  filter: Parameters<typeof rowsOf>[1],
  { file, asDocument }: { readonly file: string | undefined; readonly asDocument: boolean },
): Promise<number> {
  let entries = 0;
  async function* chunks(): AsyncGenerator<string> {
    if (asDocument) yield '{"items":[';
    for await (const row of rowsOf(store.db, filter)) {
      const text = onOneLine(JSON.stringify(entryOf(row)));
      yield asDocument ? `${entries === 0 ? "" : ","}${text}` : `${text}\n`;
      entries += 1;
    }
    if (asDocument) yield "]}\n";
  }
  try {
    if (file === undefined) await pipeline(chunks, process.stdout, { end: false });
    else await pipeline(chunks, createWriteStream(file, { flags: "wx" }));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && "syscall" in error)) throw error;
    throw new CliError(EXIT.failed, `can't write ${file ?? "the trail"}: ${errorReason(error)}`, {
      code: "not_written",
    });
  }
  return entries;
}

/** Escapes the characters that some line readers take for a line end. */
function onOneLine(json: string): string {
  return json.replaceAll(
    /[\u0085\u2028\u2029]/g,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function entryOf(row: AuditRow): object {
  return {
    id: row.audit_id,
    businessId: row.business_id,
    at: new Date(row.at_ms).toISOString(),
    actor: row.actor,
    actorKind: row.actor_kind,
    action: row.action,
    subject: row.subject,
    details: JSON.parse(row.details) as unknown,
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

function hashOf(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw usageError(
    `--head can't be “${text}”`,
    "The 64 hexadecimal digits that “payrun audit verify” prints as a trail's end.",
  );
}

function instantOf(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw usageError(`--since can't be “${text}”`, "A date YYYY-MM-DD, or an ISO 8601 instant.");
}
