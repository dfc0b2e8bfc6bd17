import { definedOnly } from "../../../contracts/defined-only.ts";
import type { HoldPlaybook } from "../../../contracts/playbook.ts";
import { isRecord } from "../../../contracts/is-record.ts";
import { checkEvents } from "../../events.ts";
import type { Issue } from "../../source.ts";
import { billChoice, checkChosen } from "../chosen-bills.ts";
import { playbookKind } from "../kind.ts";
import { type HoldInput, holdSchema } from "./schema.ts";

/** Holds bills back until a person releases them. */
export const holdKind = playbookKind({
  schema: holdSchema,
  formerKeys: new Map([
    ["how", "no `how`: `kind: hold` holds bills back, `kind: cancel-scheduled` cancels payments"],
    ["then", "no `then`: nothing is cancelled, and a bill stays on hold until it is released"],
  ]),
  checkTogether: check,
  compile,
});

function compile(name: string, { business, choose, unless, events }: HoldInput): HoldPlaybook {
  return {
    kind: "hold",
    name,
    business: business ?? null,
    schedule: null,
    choose: billChoice(choose),
    releasedBy: unless.releasedBy,
    until: unless.until,
    ...definedOnly({ events }),
  };
}

function check(written: unknown): Issue[] {
  if (!isRecord(written)) return [];
  const { choose = {}, events } = written;
  if (!isRecord(choose)) return [];
  const issues = [...checkChosen(written, "`run`, `vendor` or `where`"), ...checkEvents(events)];
  if (events === undefined || "run" in choose) return issues;
  return [
    ...issues,
    {
      path: ["choose"],
      anchor: "key",
      message: "bills of a run are held back, and the events name no run",
      expected: "`run: weekly-vendors`",
    },
  ];
}
