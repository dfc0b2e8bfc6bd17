import type { Command } from "@commander-js/extra-typings";

import { spokenStamp, zoneName } from "../../domain/clock/spoken.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import { type GatewayClient, gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import { changesOf, changesText } from "../show/revision-changes.ts";
import type { CliSession } from "../client/session.ts";
import { addPlaybookConfirmCommand } from "./playbook-confirm.ts";
import { printable, textTable } from "../terminal/text.ts";
import {
  type PlaybookRevision,
  PlaybookListBody,
  PlaybookRevisionsBody,
} from "../../api/schemas.ts";

/** Digits of a hash that are enough to distinguish revisions. */
const HASH_SHOWN = 12;

/** `payrun playbook …`: what is stored, and its history. */
export function addPlaybookCommand(program: Command, session: CliSession): void {
  const playbook = program
    .command("playbook")
    .description("what is stored: list, history, show, confirm");
  addList(playbook, session);
  addHistory(playbook, session);
  addShow(playbook, session);
  addPlaybookConfirmCommand(playbook, session);
}

function addList(playbook: Command, session: CliSession): void {
  playbook
    .command("list")
    .description("the stored playbooks, each in its newest revision")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const list = await gatewayOf(config()).get("/v1/playbooks", PlaybookListBody);
        const rows = list.items.map(({ name, kind, business, revision, author, createdAt }) => [
          printable(name),
          kind,
          printable(business),
          String(revision),
          printable(author),
          spokenStamp(createdAt, list.zone),
        ]);
        const columns = ["Playbook", "Kind", "Business", "Revision", "By", whenIn(list.zone)];
        output.lines(
          rows.length === 0
            ? ["No playbook is stored: payrun apply FILE stores one."]
            : textTable(
                columns.map((title) => ({ title })),
                rows,
              ),
        );
        output.document(list);
      }),
    );
}

function addHistory(playbook: Command, session: CliSession): void {
  playbook
    .command("history")
    .description("a playbook's revisions, newest first: by whom, when, and what each changed")
    .argument("<name>", "the playbook's name")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const stored = await storedOf(gatewayOf(config()), name, options.business);
        const { items: revisions, zone } = stored;
        const changes = changesOf(revisions);
        const rows = revisions.map(({ revision, author, createdAt, hash }, at) => {
          const changed = changes[at];
          return [
            String(revision),
            printable(author),
            spokenStamp(createdAt, zone),
            hash.slice(0, HASH_SHOWN),
            changed === undefined ? "" : printable(changesText(changed, revision === 1)),
          ];
        });
        const columns = ["Revision", "By", whenIn(zone), "SHA-256", "What changed"];
        output.lines(
          textTable(
            columns.map((title) => ({ title })),
            rows,
          ),
        );
        output.document({
          name,
          items: revisions.map(({ revision, author, createdAt, hash }, at) => ({
            revision,
            author,
            createdAt,
            hash,
            ...changes[at],
          })),
        });
      }),
    );
}

function addShow(playbook: Command, session: CliSession): void {
  playbook
    .command("show")
    .description("the text of a playbook's newest revision, or of an earlier one")
    .argument("<name>", "the playbook's name")
    .argument("[revision]", "which one; default: the newest")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option("--json", "print one JSON document")
    .action((name, wanted, options) =>
      session.run(options, async ({ output, config }) => {
        const number = revisionNumber(wanted);
        const revisions = await revisionsOf(gatewayOf(config()), name, options.business);
        const found = number === undefined ? revisions[0] : revisionIn(name, revisions, number);
        const lines = (found?.text ?? "").replace(/\r?\n$/, "").split(/\r?\n/);
        // Tabs are kept as written, so that the output redirected to a file is the playbook.
        for (const line of lines) output.verbatim(line.split("\t").map(printable).join("\t"));
        output.document({ name, ...found });
      }),
    );
}

async function revisionsOf(
  gateway: GatewayClient,
  name: string,
  business: string | undefined,
): Promise<readonly PlaybookRevision[]> {
  return (await storedOf(gateway, name, business)).items;
}

function storedOf(gateway: GatewayClient, name: string, business: string | undefined) {
  const path = ofBusiness(`/v1/playbooks/${encodeURIComponent(name)}`, business);
  return gateway.get(path, PlaybookRevisionsBody);
}

function whenIn(zone: string): string {
  return `When (${zoneName(zone)})`;
}

/** @throws {CliError} 2 if the text isn't a revision number */
export function revisionNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw usageError(`a revision is a number from 1, not “${text}”`);
}

/** @throws {CliError} 1 if no revision has that number, with those that exist */
export function revisionIn<R extends { readonly revision: number }>(
  name: string,
  revisions: readonly R[],
  number: number | undefined,
): R {
  const found =
    number === undefined ? revisions[1] : revisions.find(({ revision }) => revision === number);
  if (found !== undefined) return found;
  const known = revisions.map(({ revision }) => revision).join(", ");
  const which = number === undefined ? "no revision before its newest" : `no revision ${number}`;
  throw new CliError(EXIT.failed, `${name} has ${which}; it has ${known}`, {
    code: "not_found",
    hint: `“payrun playbook history ${name}” shows them.`,
  });
}
