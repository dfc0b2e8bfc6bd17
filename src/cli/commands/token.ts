import { readLocalAdmin } from "../local-admin.ts";
import type { Command } from "@commander-js/extra-typings";

import type { Config } from "../../config.ts";
import type { Store } from "../../store/index.ts";
import { createToken, findToken, listTokens, revokeToken, type Token } from "../../store/tokens.ts";
import { CliError, EXIT, usageError } from "../cli-error.ts";
import { collect } from "../collect.ts";
import { readEnd } from "../duration.ts";
import type { Session } from "../session.ts";
import { dim, green, printable, table } from "../text.ts";
import { withStore } from "../with-store.ts";

const OWN_ROLES = ["viewer", "launcher", "operator", "admin"];

export function addTokenCommand(program: Command, session: Session): void {
  const token = program
    .command("token")
    .description("make, list and revoke the gateway's tokens, on the store's host");
  addCreate(token, session);
  addList(token, session);
  addRevoke(token, session);
}

function addCreate(parent: Command, session: Session): void {
  parent
    .command("create")
    .description("make a token; it is shown this once")
    .argument("<name>", "who it stands for: approvals are counted by name")
    .option(
      "--role <role>",
      `${OWN_ROLES.join(", ")}, or an approver's role of your playbooks; may be repeated`,
      collect,
    )
    .option("--expires <when>", "30d from now on, or a date; without it, never")
    .option("--json", "print one JSON document, with id and token")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        checkName(name);
        const roles = [...new Set(options.role ?? [])];
        checkRoles(roles);
        const nowMs = Date.now();
        const { expires } = options;
        const expiresAtMs =
          expires === undefined ? undefined : readEnd(expires, "--expires", nowMs);
        const settings = config();
        const made = await withStore(settings, async (store) =>
          createToken(store, {
            name,
            roles,
            expiresAtMs,
            createdBy: await makerOf(settings, store),
            nowMs,
          }),
        );
        // A secret has no business on standard error, where it would end up in logs.
        if (!output.json) output.line(made.token);
        output.note(dim(`${printable(name)} (${roles.join(", ")}), ${made.tokenId}`));
        output.document({ id: made.tokenId, token: made.token, name, roles });
      }),
    );
}

function addList(parent: Command, session: Session): void {
  parent
    .command("list")
    .description("list all tokens, never their secrets")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const tokens = await withStore(config(), (store) => listTokens(store.db));
        const rows = tokens.map((token) => [
          token.tokenId,
          printable(token.name),
          token.roles.join(", "),
          new Date(token.createdAtMs).toISOString().slice(0, 10),
          printable(token.createdBy),
          stateOf(token),
        ]);
        const columns = ["Token", "Name", "Roles", "Made", "By", "State"].map((title) => ({
          title,
        }));
        output.lines(rows.length === 0 ? ["No tokens."] : table(columns, rows));
        output.document({
          items: tokens.map((token) => ({
            id: token.tokenId,
            name: token.name,
            roles: token.roles,
            createdBy: token.createdBy,
            createdAt: new Date(token.createdAtMs).toISOString(),
            expiresAt: isoOrNull(token.expiresAtMs),
            revokedAt: isoOrNull(token.revokedAtMs),
          })),
        });
      }),
    );
}

function addRevoke(parent: Command, session: Session): void {
  parent
    .command("revoke")
    .description("end a token at once")
    .argument("<token>", "its id, or a name for all tokens of that name")
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const revoked = await withStore(settings, async (store) => {
          const all = await listTokens(store.db);
          const meant = all.filter((token) => token.tokenId === text || token.name === text);
          if (meant.length === 0) {
            throw new CliError(EXIT.failed, `no token has the id or name “${text}”`, {
              code: "not_found",
              hint: "“payrun token list” shows them.",
            });
          }
          const by = await makerOf(settings, store);
          const nowMs = Date.now();
          for (const { tokenId } of meant) await revokeToken(store, tokenId, { by, nowMs });
          return meant.map(({ tokenId }) => tokenId);
        });
        for (const id of revoked) output.line(`${green("✓")} revoked ${id}`);
        output.document({ revoked });
      }),
    );
}

/**
 * Who makes or ends a token: whoever launched a run must not approve it with one made afterwards, so the
 * maker is the name that the same person's commands act under.
 */
async function makerOf(config: Config, store: Store): Promise<string> {
  const mine = config.token ?? readLocalAdmin(config.home);
  const token = mine === undefined ? undefined : await findToken(store.db, mine, Date.now());
  return token?.name ?? "local-admin";
}

function checkName(name: string): void {
  if (/^\S(.{0,98}\S)?$/.test(name) && !/\p{C}/u.test(name)) return;
  throw usageError("a token's name is 1 to 100 characters without spaces around them");
}

function checkRoles(roles: readonly string[]): void {
  if (roles.length === 0) {
    throw usageError(
      "a token needs a role",
      `--role ${OWN_ROLES.join(", ")}, or an approver's role of your playbooks, such as controller`,
    );
  }
  const bad = roles.find((role) => !/^[a-z][a-z0-9-]{0,49}$/.test(role));
  if (bad !== undefined) {
    throw usageError(`“${bad}” can't be a role: lower-case letters, digits and dashes`);
  }
}

function stateOf({ revokedAtMs, expiresAtMs }: Token): string {
  if (revokedAtMs !== null) return "revoked";
  if (expiresAtMs === null) return "valid";
  return expiresAtMs <= Date.now()
    ? "expired"
    : `until ${new Date(expiresAtMs).toISOString().slice(0, 10)}`;
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
