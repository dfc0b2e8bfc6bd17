import type { Command } from "@commander-js/extra-typings";

import { spokenStamp } from "../../domain/clock/spoken.ts";
import { MadeTokenBody, TokenBody, TokenListBody } from "../../api/tokens.ts";
import type { Config } from "../../config.ts";
import {
  OWN_ROLES,
  roleProblem,
  TOKEN_DAYS,
  tokenNameProblem,
  type TokenView,
} from "../../domain/approvals/token.ts";
import { suggest } from "../../domain/suggest.ts";
import { principalOf } from "../../domain/approvals/principal.ts";
import { openStore, type Store } from "../../store/index.ts";
import {
  createFirstTokens,
  createToken,
  findToken,
  revokeToken,
  viewTokens,
} from "../../store/approvals/tokens.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import type { Output } from "../terminal/output.ts";
import { readEnd } from "../terminal/duration.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { ownToken, personPath, replaceOwnToken } from "../home/people.ts";
import { writePrivate } from "../home/private-file.ts";
import type { Session } from "../client/session.ts";
import { dim, green, printable, table } from "../terminal/text.ts";
import { shellWord } from "../terminal/typed.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { withStore } from "./with-store.ts";

export function addTokenCommand(program: Command, session: Session): void {
  const token = program
    .command("token")
    .description("make, confirm, list and revoke the gateway's tokens");
  addCreate(token, session);
  addConfirm(token, session);
  addRenew(token, session);
  addBootstrap(token, session);
  addList(token, session);
  addRevoke(token, session);
}

/**
 * True where tokens are made in the store itself, on its host: where every business is a sandbox.
 * Everywhere else administrators make them through the gateway.
 */
function isDirect({ profiles, settings }: Config): boolean {
  const isElsewhere = settings.some(({ name, isSet }) => name === "PAYRUN_GATEWAY_URL" && isSet);
  return profiles.all().length === 0 ? !isElsewhere : profiles.sandboxesOnly();
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
    .option(
      "--business <name>",
      "what it is for; may be repeated; without it, every business",
      collect,
    )
    .option("--expires <when>", `30d from now on, or a date; ${TOKEN_DAYS} days unless said`)
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document, with id and token")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        checkName(name);
        const roles = [...new Set(options.role ?? [])];
        checkRoles(roles);
        const businesses = options.business === undefined ? null : [...new Set(options.business)];
        const nowMs = Date.now();
        const { expires } = options;
        const expiresAtMs =
          expires === undefined ? undefined : readEnd(expires, "--expires", nowMs);
        const settings = config();
        const token = { name, roles, businesses, expiresAtMs };
        const made = isDirect(settings)
          ? await makeHere(settings, token)
          : await makeThere(settings, token);
        // A secret has no business on standard error, where it would end up in logs.
        if (!output.json) output.line(made.token);
        output.note(dim(`${printable(name)} (${roles.join(", ")}), ${made.id}`));
        for (const role of roles) noteOddRole(output, role);
        if (isDirect(settings)) {
          writePrivate(personPath(settings.home, name), `${made.token}\n`);
          output.note(
            dim(`kept in ${settings.home} as well: commands take --as ${shellWord(name)}`),
          );
        }
        if (made.state === "unconfirmed") {
          output.note(`It counts once another administrator says: payrun token confirm ${made.id}`);
        }
        output.document(made);
      }),
    );
}

/** Payrun's own roles, and the approvers' of the playbooks that come with it. */
const USUAL_ROLES: readonly string[] = [...OWN_ROLES, "controller", "owner"];

/** A playbook may ask for any role, so one that looks mistyped is made, and said. */
function noteOddRole(output: Pick<Output, "note">, role: string): void {
  const meant = USUAL_ROLES.includes(role) ? undefined : suggest(role, USUAL_ROLES);
  if (meant === undefined) return;
  output.note(
    `! ${role} is a role of its own, which only a playbook that names it asks for; did you mean ${meant}?`,
  );
}

interface Wanted {
  readonly name: string;
  readonly roles: readonly string[];
  readonly businesses: readonly string[] | null;
  readonly expiresAtMs: number | undefined;
}

async function makeHere(config: Config, token: Wanted): Promise<TokenView & { token: string }> {
  const { profiles } = config;
  const unknown = token.businesses?.find((name) => profiles.get(name) === undefined);
  if (unknown !== undefined) {
    const known = profiles.all().map(({ name }) => name);
    throw usageError(
      `no business is called “${unknown}”; configured: ${known.join(", ") || "none"}`,
    );
  }
  return withStore(config, async (store) => {
    const nowMs = Date.now();
    const createdBy = await makerOf(config, store);
    const made = await createToken(store, { ...token, createdBy, nowMs });
    const all = await viewTokens(store.db, { nowMs, sandboxesOnly: true });
    const found = all.find(({ id }) => id === made.tokenId);
    if (found === undefined) throw new Error(`${made.tokenId} is gone`);
    return { ...found, token: made.token };
  });
}

function makeThere(config: Config, token: Wanted): Promise<TokenView & { token: string }> {
  const { name, roles, businesses, expiresAtMs } = token;
  return gatewayOf(config).post("/v1/tokens", MadeTokenBody, {
    ...{ name, roles },
    ...(businesses === null ? {} : { businesses }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
  });
}

function addConfirm(parent: Command, session: Session): void {
  parent
    .command("confirm")
    .description("say, as a second administrator, that a token is whose it says")
    .argument("<token>", "its id, as “payrun token create” and “payrun token list” show it")
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const path = `/v1/tokens/${encodeURIComponent(id)}/confirmation`;
        const token = await gatewayOf(config()).post(path, TokenBody, {});
        const roles = token.roles.join(", ");
        output.line(`${green("✓")} ${printable(token.name)} (${roles}): ${token.state}`);
        output.document(token);
      }),
    );
}

function addRenew(parent: Command, session: Session): void {
  parent
    .command("renew")
    .description("give your own token a new secret, which its maker has not seen; shown this once")
    .option("--json", "print one JSON document, with id and token")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const token = await gatewayOf(config()).post("/v1/tokens/renewal", MadeTokenBody, {});
        if (!output.json) output.line(token.token);
        const keeper = replaceOwnToken(config(), token.token);
        if (keeper !== null) output.note(dim(`${keeper} keeps it in place of the old one`));
        output.document(token);
      }),
    );
}

function addBootstrap(parent: Command, session: Session): void {
  parent
    .command("bootstrap")
    .description("make the first two administrators, who approve nothing; on the store's host")
    .argument("<name>", "the first one")
    .argument("<other>", "the second one: somebody else")
    .option("--json", "print one JSON document, with both tokens")
    .action((name, other, options) =>
      session.run(options, async ({ output, config }) => {
        for (const each of [name, other]) checkName(each);
        if (principalOf(name) === principalOf(other)) {
          throw usageError(`“${name}” and “${other}” are one person`, "Name two people.");
        }
        const made = await firstTokens(config(), [name, other]);
        if (made === undefined) {
          throw new CliError(EXIT.failed, "there are administrators already", {
            code: "bootstrapped",
            hint: "They make tokens with “payrun token create”; “payrun token list” shows them.",
          });
        }
        const items = made.map(({ tokenId, ...each }) => ({ id: tokenId, ...each }));
        if (!output.json) for (const each of items) output.line(`${each.name}  ${each.token}`);
        output.note(dim("Give each to its holder, who says “payrun token renew” with it."));
        output.document({ items });
      }),
    );
}

/** It comes before anything else: there may be no store yet. */
async function firstTokens(config: Config, names: readonly [string, string]) {
  const store = await openStore(config.databaseUrl);
  try {
    return await createFirstTokens(store, names, Date.now());
  } finally {
    await store.close();
  }
}

function addList(parent: Command, session: Session): void {
  parent
    .command("list")
    .description("list all tokens, never their secrets")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const items = await tokensOf(config());
        const rows = items.map((token) => [
          token.id,
          printable(token.name),
          token.roles.join(", "),
          token.businesses?.join(", ") ?? "all",
          printable(token.createdBy),
          token.state === "valid"
            ? `until ${spokenStamp(token.expiresAt).slice(0, 10)}`
            : token.state,
          token.lastUsedAt === null ? "never" : spokenStamp(token.lastUsedAt),
        ]);
        const titles = [
          "Token",
          "Name",
          "Roles",
          "Businesses",
          "By",
          "State",
          "Last used (New York)",
        ];
        const columns = titles.map((title) => ({ title }));
        output.lines(rows.length === 0 ? ["No tokens."] : table(columns, rows));
        output.document({ items });
      }),
    );
}

function tokensOf(config: Config): Promise<readonly TokenView[]> {
  const now = { nowMs: Date.now(), sandboxesOnly: true };
  return isDirect(config)
    ? withStore(config, (store) => viewTokens(store.db, now))
    : gatewayOf(config)
        .get("/v1/tokens", TokenListBody)
        .then(({ items }) => items);
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
        const all = await tokensOf(settings);
        const meant = all.filter(({ id, name }) => id === text || name === text);
        if (meant.length === 0) {
          throw new CliError(EXIT.failed, `no token has the id or name “${text}”`, {
            code: "not_found",
            hint: "“payrun token list” shows them.",
          });
        }
        const revoked = meant.map(({ id }) => id);
        if (isDirect(settings)) await revokeHere(settings, revoked);
        else {
          const gateway = gatewayOf(settings);
          for (const id of revoked) await gateway.delete(`/v1/tokens/${id}`, TokenBody);
        }
        for (const id of revoked) output.line(`${green("✓")} revoked ${id}`);
        output.document({ revoked });
      }),
    );
}

function revokeHere(config: Config, ids: readonly string[]): Promise<void> {
  return withStore(config, async (store) => {
    const by = await makerOf(config, store);
    for (const id of ids) await revokeToken(store, id, { by, nowMs: Date.now() });
  });
}

/**
 * Who makes or ends a token: whoever launched a run must not approve it with one made afterwards, so the
 * maker is the name that the same person's commands act under.
 */
async function makerOf(config: Config, store: Store): Promise<string> {
  const mine = ownToken(config);
  const token = mine === undefined ? undefined : await findToken(store.db, mine);
  return token?.name ?? "local-admin";
}

function checkName(name: string): void {
  const problem = tokenNameProblem(name);
  if (problem !== undefined) throw usageError(problem);
}

function checkRoles(roles: readonly string[]): void {
  if (roles.length === 0) {
    throw usageError(
      "a token needs a role",
      `--role ${OWN_ROLES.join(", ")}, or an approver's role of your playbooks, such as controller`,
    );
  }
  const bad = roles.find((role) => roleProblem(role) !== undefined);
  if (bad !== undefined) throw usageError(roleProblem(bad) ?? bad);
}
