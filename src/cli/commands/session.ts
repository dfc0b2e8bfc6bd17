import type { Command } from "@commander-js/extra-typings";

import { SessionBody, SessionListBody, SignInLinkBody } from "../../api/sessions.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import type { CliSession } from "../client/session.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { dim, green, printable, textTable } from "../terminal/text.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";

export function addLoginCommand(program: Command, session: CliSession): void {
  program
    .command("login")
    .description("print a link that signs you in at the console, once, within ten minutes")
    .option("--json", "print one JSON document, with url and code")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const link = await gatewayOf(config()).post("/v1/sign-in-links", SignInLinkBody, {});
        // A link is a secret until it is used, so it doesn't belong in a log of standard error.
        if (!output.json) output.line(link.url);
        output.note(
          dim(
            `Opens once, until ${spokenTime(link.expiresAt, link.zone)}, for ${printable(link.name)}.`,
          ),
        );
        output.document(link);
      }),
    );
}

export function addSessionCommand(program: Command, session: CliSession): void {
  const sessions = program.command("session").description("list and end sign-ins at the console");
  sessions
    .command("list")
    .description("list sign-ins at the console: yours, or everybody's if you are an administrator")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const { items, zone } = await gatewayOf(config()).get("/v1/sessions", SessionListBody);
        const told = (instant: string) => spokenTime(instant, zone);
        const rows = items.map((each) => [
          each.id,
          printable(each.name),
          each.way,
          printable(each.tokenId ?? `${each.issuer ?? ""} ${each.subject ?? ""}`),
          each.state === "valid" ? `until ${told(each.expiresAt)}` : each.state,
          told(each.signedInAt),
          each.lastUsedAt === null ? "never" : told(each.lastUsedAt),
        ]);
        const titles = ["Session", "Name", "By", "Stands for", "State", "Signed in", "Last used"];
        const columns = titles.map((title) => ({ title }));
        output.lines(rows.length === 0 ? ["No sessions."] : textTable(columns, rows));
        output.document({ items });
      }),
    );
  sessions
    .command("revoke")
    .description("end a sign-in at once")
    .argument("<session>", "its id, or a name for all sign-ins of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((text, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const { items } = await gateway.get("/v1/sessions", SessionListBody);
        const meant = items.filter(
          ({ id, name, state }) => id === text || (name === text && state === "valid"),
        );
        if (meant.length === 0) {
          throw new CliError(EXIT.failed, `no session has the id or name “${text}”`, {
            code: "not_found",
            hint: "“payrun session list” shows them.",
          });
        }
        const revoked = meant.map(({ id }) => id);
        for (const id of revoked) await gateway.delete(`/v1/sessions/${id}`, SessionBody);
        for (const id of revoked) output.line(`${green("✓")} revoked ${id}`);
        output.document({ revoked });
      }),
    );
}
