import type { Command } from "@commander-js/extra-typings";

import { spokenSecond, spokenStamp, zoneName } from "../../domain/clock/spoken.ts";
import { usageError } from "../terminal/cli-error.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { findRunId } from "../client/run-id.ts";
import type { CliSession } from "../client/session.ts";
import { dim, green, printable, red, textTable, yellow } from "../terminal/text.ts";
import { type NoticeView, NoticeBody, NoticeListBody } from "../../api/notices.ts";

export function addNoticesCommand(program: Command, session: CliSession): void {
  program
    .command("notices")
    .description("list the notices to people, and whether they arrived")
    .option("--undelivered", "only those that have not reached everybody, so far or for good")
    .option("--run <run>", "only what is about a run: rent, rent/2026-11-26 or its id")
    .option("--kind <kind>", "approval-needed, parked, run-completed, …")
    .option("--business <name>", "only those of a business")
    .option("--retry <notice>", "send an undelivered notice again")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const { retry, undelivered, run, kind, business } = options;
        const filters = { run, kind, business };
        if (retry !== undefined) {
          if (undelivered === true || Object.values(filters).some((each) => each !== undefined)) {
            throw usageError("--retry names one notice: leave out the filters");
          }
          const path = `/v1/notices/${encodeURIComponent(retry)}/retry`;
          const notice = await gateway.post(path, NoticeBody, {});
          const what = notice.state === "sent" ? "has reached everybody already" : "trying again";
          output.line(`${green("✓")} ${what}: ${printable(notice.subject)}`);
          output.document(notice);
          return;
        }
        const query = new URLSearchParams(undelivered === true ? { undelivered: "true" } : {});
        const runId = run === undefined ? undefined : await findRunId(gateway, run);
        for (const [key, value] of Object.entries({ ...filters, run: runId })) {
          if (value !== undefined) query.set(key, value);
        }
        const notices = await gateway.get(`/v1/notices?${query.toString()}`, NoticeListBody);
        output.lines(
          notices.items.length === 0 ? [emptyText(options)] : noticeLines(notices.items),
        );
        output.document(notices);
      }),
    );
}

function emptyText(options: {
  readonly undelivered?: true | undefined;
  readonly run?: string | undefined;
  readonly kind?: string | undefined;
}): string {
  if (options.undelivered === true) {
    return "No notice waits to be delivered. “payrun notices” shows those that no channel took: they reached nobody.";
  }
  const isAll = options.run === undefined && options.kind === undefined;
  return isAll ? "There are no notices yet." : "There are no notices about that yet.";
}

function noticeLines(notices: readonly NoticeView[]): string[] {
  const [zone, ...others] = new Set(notices.map((notice) => notice.zone));
  const isOne = zone !== undefined && others.length === 0;
  const when = isOne ? `When (${zoneName(zone)})` : "When";
  const columns = [when, "Kind", "State", "Subject", "Notice"].map((title) => ({ title }));
  const rows = notices.map((notice) => [
    isOne ? spokenStamp(notice.createdAt, zone) : spokenSecond(notice.createdAt, notice.zone),
    printable(notice.kind),
    stateText(notice),
    printable(notice.subject),
    dim(notice.id),
  ]);
  return textTable(columns, rows);
}

function stateText({ state, problem, deliveries }: NoticeView): string {
  const problems = deliveries.flatMap((delivery) =>
    delivery.problem === null ? [] : [`${delivery.channel}: ${delivery.problem}`],
  );
  const why = [...(problem === null ? [] : [problem]), ...new Set(problems)].join("; ");
  const text = why === "" ? state : `${state} (${printable(why)})`;
  if (state === "sent") return green(text);
  if (state === "nobody") return dim(text);
  return state === "pending" && why === "" ? yellow(text) : red(text);
}
