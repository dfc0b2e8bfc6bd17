import { namedInProfiles } from "../../contracts/principal.ts";
import type { Command } from "@commander-js/extra-typings";
import { definedOnly } from "../../contracts/defined-only.ts";
import { MadeTokenBody } from "../../api/tokens.ts";
import type { Config } from "../../config.ts";
import {
  OWN_ROLES,
  roleProblem,
  TOKEN_DAYS,
  tokenNameProblem,
  type TokenView,
} from "../../domain/approvals/token.ts";
import { suggest } from "../../domain/suggest.ts";
import { type Store } from "../../store/index.ts";
import {
  createToken,
  findToken,
  LookAlikeError,
  viewTokens,
} from "../../store/approvals/tokens.ts";
import { usageError } from "../terminal/cli-error.ts";
import { collect } from "../terminal/collect.ts";
import type { Output } from "../terminal/output.ts";
import { readEnd } from "../terminal/duration.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { bindTokens, gatewayOfTokens, ownToken, personPath } from "../home/people.ts";
import { writePrivate } from "../home/private-file.ts";
import type { CliSession } from "../client/session.ts";
import { dim, printable } from "../terminal/text.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";
import { withStore } from "./with-store.ts";

export function addCreate(parent: Command, session: CliSession): void {
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
    .option("--expires <when>", `30d from now, or a date; default: ${TOKEN_DAYS} days`)
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
        // A secret doesn't belong on standard error, which may end up in logs.
        if (!output.json) output.line(made.token);
        output.note(dim(`${printable(name)} (${roles.join(", ")}), ${made.id}`));
        for (const role of roles) noteOddRole(output, role);
        if (isDirect(settings)) {
          if (gatewayOfTokens(settings.home) === undefined) {
            bindTokens(settings.home, settings.gatewayUrl);
          }
          writePrivate(personPath(settings.home, name), `${made.token}\n`);
          output.note(
            dim(`kept in ${settings.home} as well: commands take --as ${shellWord(name)}`),
          );
        }
        if (made.state === "unconfirmed") {
          output.note(`It counts once another administrator runs: payrun token confirm ${made.id}`);
        }
        output.document(made);
      }),
    );
}

/** Payrun's own roles, and the approver roles of the playbooks that come with it. */
const USUAL_ROLES: readonly string[] = [...OWN_ROLES, "controller", "owner"];

/** A playbook may ask for any role, so a role that looks mistyped is accepted with a note. */
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
    const others = namedInProfiles(profiles.all());
    const made = await createToken(store, { ...token, createdBy, nowMs }, others).catch(
      (error: unknown) => {
        throw error instanceof LookAlikeError ? usageError(error.message) : error;
      },
    );
    const all = await viewTokens(store.db, { nowMs, sandboxesOnly: true });
    const found = all.find(({ id }) => id === made.tokenId);
    if (found === undefined) throw new Error(`${made.tokenId} is gone`);
    return { ...found, token: made.token };
  });
}

function makeThere(config: Config, token: Wanted): Promise<TokenView & { token: string }> {
  const { name, roles, businesses, expiresAtMs } = token;
  return gatewayOf(config).post("/v1/tokens", MadeTokenBody, {
    name,
    roles,
    ...definedOnly({ businesses: businesses ?? undefined }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: new Date(expiresAtMs).toISOString() }),
  });
}

/**
 * True if tokens are made in the store itself, on its host: every business is a sandbox. Otherwise
 * administrators make them through the gateway.
 */
export function isDirect({ profiles, settings, hidesProfiles }: Config): boolean {
  if (hidesProfiles) return false;
  const isElsewhere = settings.some(({ name, isSet }) => name === "PAYRUN_GATEWAY_URL" && isSet);
  return profiles.all().length === 0 ? !isElsewhere : profiles.sandboxesOnly();
}

/**
 * Returns the name under which a token is made or ended. A run's launcher must not approve the run
 * with a token made afterwards, so it is the name that the same person's commands act under.
 */
export async function makerOf(config: Config, store: Store): Promise<string> {
  const mine = ownToken(config);
  const token = mine === undefined ? undefined : await findToken(store.db, mine);
  return token?.name ?? "local-admin";
}

export function checkName(name: string): void {
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
