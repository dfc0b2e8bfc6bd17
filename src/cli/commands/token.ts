import type { Command } from "@commander-js/extra-typings";
import { DAY_MS } from "../../contracts/durations.ts";
import { spokenStamp, zoneName } from "../../domain/clock/spoken.ts";
import { MadeTokenBody, TokenBody, TokenListBody } from "../../api/tokens.ts";
import type { Config } from "../../config.ts";
import { type TokenView } from "../../domain/approvals/token.ts";
import { principalOf } from "../../contracts/principal.ts";
import { zoneOfAll } from "../../reports/moment.ts";
import { openStore } from "../../store/open.ts";
import { createFirstTokens, revokeToken, viewTokens } from "../../store/approvals/tokens.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import { type GatewayClient, gatewayOf } from "../client/gateway-client.ts";
import { replaceOwnToken } from "../home/people.ts";
import type { CliSession } from "../client/session.ts";
import { dim, green, printable, textTable } from "../terminal/text.ts";
import { withStore } from "./with-store.ts";
import { addCreate, checkName, isDirect, makerOf } from "./token-create.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";

export function addTokenCommand(program: Command, session: CliSession): void {
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

function addConfirm(parent: Command, session: CliSession): void {
  parent
    .command("confirm")
    .description("confirm, as a second administrator, that a token belongs to the person it names")
    .argument("<token>", "its id, or the name of one that is not confirmed yet")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((id, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const path = `/v1/tokens/${encodeURIComponent(await unconfirmed(gateway, id))}/confirmation`;
        const token = await gateway.post(path, TokenBody, {});
        const roles = token.roles.join(", ");
        output.line(`${green("✓")} ${printable(token.name)} (${roles}): ${token.state}`);
        output.document(token);
      }),
    );
}

/** Returns the id of the one token of that name that waits for a second person; keeps an id. */
async function unconfirmed(gateway: GatewayClient, text: string): Promise<string> {
  if (text.startsWith("tok_")) return text;
  const { items } = await gateway.get("/v1/tokens", TokenListBody);
  const waiting = items.filter(({ name, state }) => isName(name, text) && state === "unconfirmed");
  const [only, ...others] = waiting;
  if (only !== undefined && others.length === 0) return only.id;
  throw usageError(
    only === undefined
      ? `no token of the name “${text}” waits for a second administrator`
      : `${waiting.length} tokens of the name “${text}” wait: ${waiting.map(({ id }) => id).join(", ")}`,
    "“payrun token list” shows them.",
  );
}

/** Compares names as everywhere else: “Bea” equals BEA. */
function isName(name: string, text: string): boolean {
  return principalOf(name) === principalOf(text);
}

function addRenew(parent: Command, session: CliSession): void {
  parent
    .command("renew")
    .description("give your own token a new secret, which its maker has not seen; shown this once")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document, with id and token")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const token = await gatewayOf(config()).post("/v1/tokens/renewal", MadeTokenBody, {});
        if (!output.json) output.line(token.token);
        const keeper = replaceOwnToken(config(), token.token);
        output.note(
          dim(
            keeper === null
              ? "The old one no longer counts: set PAYRUN_TOKEN to this one."
              : `${keeper} keeps it in place of the old one`,
          ),
        );
        output.document(token);
      }),
    );
}

function addBootstrap(parent: Command, session: CliSession): void {
  parent
    .command("bootstrap")
    .description("make the first two administrators, who approve nothing; on the store's host")
    .argument("<name>", "the first one")
    .argument("<other>", "the second one: another person")
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
        output.note(
          dim(
            "Give each to its holder, who sets PAYRUN_TOKEN to it and runs “payrun token renew”.",
          ),
        );
        output.document({ items });
      }),
    );
}

/** Makes the first tokens. It comes before anything else, so it creates the store if needed. */
async function firstTokens(config: Config, names: readonly [string, string]) {
  const store = await openStore(config.databaseUrl);
  try {
    return await createFirstTokens(store, names, Date.now());
  } finally {
    await store.close();
  }
}

/** Returns the day a token ends, with the time if it ends within a day. */
function endOf(expiresAt: string, zone: string): string {
  const isSoon = Date.parse(expiresAt) - Date.now() < DAY_MS;
  return spokenStamp(expiresAt, zone).slice(0, isSoon ? 16 : 10);
}

function addList(parent: Command, session: CliSession): void {
  parent
    .command("list")
    .description("list all tokens, never their secrets")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const { items, zone } = await tokensOf(config());
        const rows = items.map((token) => [
          token.id,
          printable(token.name),
          token.roles.join(", "),
          token.businesses?.join(", ") ?? "all",
          printable(token.createdBy),
          token.state === "valid" ? `until ${endOf(token.expiresAt, zone)}` : token.state,
          token.lastUsedAt === null ? "never" : spokenStamp(token.lastUsedAt, zone),
        ]);
        const titles = [
          "Token",
          "Name",
          "Roles",
          "Businesses",
          "By",
          "State",
          `Last used (${zoneName(zone)})`,
        ];
        const columns = titles.map((title) => ({ title }));
        // Makers are printed unchanged: “payrun up” here is not a command to type.
        for (const line of rows.length === 0 ? ["No tokens."] : textTable(columns, rows))
          output.verbatim(line);
        output.document({ items });
      }),
    );
}

async function tokensOf(
  config: Config,
): Promise<{ readonly items: readonly TokenView[]; readonly zone: string }> {
  if (!isDirect(config)) return gatewayOf(config).get("/v1/tokens", TokenListBody);
  const now = { nowMs: Date.now(), sandboxesOnly: true };
  const items = await withStore(config, (store) => viewTokens(store.db, now));
  return { items, zone: zoneOfAll(config) };
}

function addRevoke(parent: Command, session: CliSession): void {
  parent
    .command("revoke")
    .description("end a token at once")
    .argument("<token>", "its id, or a name for all tokens of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const { items: all } = await tokensOf(settings);
        const meant = all.filter(({ id, name }) => id === text || isName(name, text));
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
