import type { Command } from "@commander-js/extra-typings";

import { DAY_MS } from "../../contracts/durations.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { EXIT } from "../terminal/cli-error.ts";
import { gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import type { CliSession } from "../client/session.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { dim, green, printable, textTable, yellow } from "../terminal/text.ts";
import {
  BackfillBody,
  DeletedScheduleBody,
  type Schedule,
  ScheduleBody,
  ScheduleListBody,
} from "../../api/schedules.ts";
import { YES_UNASKED } from "../terminal/confirm.ts";

/** `payrun schedule …`: what launches on a schedule, and how to pause it. */
export function addScheduleCommand(program: Command, session: CliSession): void {
  const schedule = program
    .command("schedule")
    .description("what runs by itself: list, pause, resume, delete, backfill");
  addList(schedule, session);
  addSwitch(schedule, session, "pause", "keep a playbook from launching until it is resumed");
  addSwitch(schedule, session, "resume", "let a paused playbook launch again");
  addDelete(schedule, session);
  addBackfill(schedule, session);
}

function addList(schedule: Command, session: CliSession): void {
  schedule
    .command("list")
    .description("the playbooks that run by themselves, with their next five runs")
    .argument("[name]", "only this playbook")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const query = name === undefined ? "" : `?playbook=${encodeURIComponent(name)}`;
        const path = ofBusiness(`/v1/schedules${query}`, options.business);
        const list = await gatewayOf(config()).get(path, ScheduleListBody);
        output.lines(list.items.flatMap(linesOf));
        for (const { playbook, message } of list.problems) {
          output.line(`${yellow("!")} ${printable(playbook)}: ${printable(message)}`);
        }
        if (list.items.length + list.problems.length === 0) {
          output.line("Nothing runs by itself: give a playbook a “schedule:” and apply it.");
        }
        output.document(list);
      }),
    );
}

function linesOf(schedule: Schedule): string[] {
  const rows = schedule.next.map(({ period, beginsAt, payDate }) => [
    period,
    beginsAtText(beginsAt, schedule.zone),
    payDate,
  ]);
  const columns = ["Period", "Begins", "Pays from"].map((title) => ({ title }));
  const clocks = schedule.next.some(hasOtherClock) ? [dim(`  ${OTHER_CLOCK}`)] : [];
  const listed = rows.length === 0 ? [] : textTable(columns, rows);
  return [headline(schedule), ...listed.map((line) => `  ${line}`), ...clocks, ""];
}

const OTHER_CLOCK = "Begins in real time; periods and pay dates are by the sandbox's clock.";

/** Farther than any holiday moves a run from its period. */
const FAR_MS = 8 * DAY_MS;

function hasOtherClock({ period, beginsAt }: Schedule["next"][number]): boolean {
  return Math.abs(Date.parse(period) - Date.parse(beginsAt)) > FAR_MS;
}

function headline({
  playbook,
  business,
  state,
  deleted,
  planOnly,
  paused,
  note,
}: Schedule): string {
  const only = planOnly === true ? " (only plans: nothing is sent)" : "";
  const name = `${printable(playbook)} for ${printable(business)}${only}`;
  const why = note === null ? "" : dim(`  ${printable(note)}`);
  if (state === "active") return `${green("✓")} ${name}`;
  if (state === "paused") return `${yellow("!")} ${name}: paused${why}`;
  if (deleted === true) return `${yellow("!")} ${name}: deleted; payrun apply FILE makes it again`;
  const wrong = state === "missing" ? "has no schedule at Temporal" : "differs from its playbook";
  const held = paused ? `, and ${state === "missing" ? "was" : "is"} paused${why}` : "";
  return `${yellow("!")} ${name}: ${wrong}${held}; payrun apply FILE repairs it`;
}

function beginsAtText(instant: string, zone: string): string {
  const text = new Date(instant).toLocaleString("en-US", {
    timeZone: zone,
    weekday: "short",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return `${text} ${zone}`;
}

function addSwitch(
  schedule: Command,
  session: CliSession,
  action: "pause" | "resume",
  description: string,
): void {
  schedule
    .command(action)
    .description(description)
    .argument("<name>", "the playbook's name")
    .option("--reason <text>", "why, for anyone who sees it")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const path = ofBusiness(
          `/v1/schedules/${encodeURIComponent(name)}/${action}`,
          options.business,
        );
        const now = await gatewayOf(config()).post(
          path,
          ScheduleBody,
          definedOnly({ note: options.reason }),
        );
        output.lines(linesOf(now));
        output.document(now);
      }),
    );
}

function addDelete(schedule: Command, session: CliSession): void {
  schedule
    .command("delete")
    .description("delete a schedule; applying its playbook makes it again")
    .argument("<name>", "the playbook's name")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const path = ofBusiness(`/v1/schedules/${encodeURIComponent(name)}`, options.business);
        const deleted = await gatewayOf(config()).delete(path, DeletedScheduleBody);
        output.line(`${green("✓")} ${printable(name)} no longer runs by itself`);
        output.document(deleted);
      }),
    );
}

function addBackfill(schedule: Command, session: CliSession): void {
  schedule
    .command("backfill")
    .description("launch the runs that a schedule has missed, each once")
    .argument("<name>", "the playbook's name")
    .option("--period <date>", "only this one, YYYY-MM-DD")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option(...YES_UNASKED)
    .option("--json", "print one JSON document")
    .action((name, options) =>
      session.run(options, async ({ output, config }) => {
        const path = ofBusiness(
          `/v1/schedules/${encodeURIComponent(name)}/backfill`,
          options.business,
        );
        const launched = await gatewayOf(config()).post(
          path,
          BackfillBody,
          definedOnly({ period: options.period }),
        );
        for (const { period, id, created } of launched.items) {
          output.line(`${green("✓")} ${period}: ${created ? "launched" : "was there:"} ${id}`);
        }
        if (launched.items.length === 0) {
          output.line("No run was missed within the playbook's catchUp.");
          output.line(dim(`payrun launch ${shellWord(name)} --period DATE makes an earlier one`));
        }
        output.document(launched);
        return EXIT.done;
      }),
    );
}
