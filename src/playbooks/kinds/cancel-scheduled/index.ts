import { definedOnly } from "../../../contracts/defined-only.ts";
import type { CancelScheduledPlaybook } from "../../../contracts/playbook.ts";
import { isRecord } from "../../../contracts/is-record.ts";
import { checkEvents } from "../../events.ts";
import type { Issue } from "../../source.ts";
import { billChoice, checkChosen } from "../chosen-bills.ts";
import { playbookKind } from "../kind.ts";
import { type CancelScheduledKeys, cancelScheduledSchema } from "./schema.ts";

/** Cancels payments that the service has scheduled. */
export const cancelScheduledKind = playbookKind({
  schema: cancelScheduledSchema,
  formerKeys: new Map([
    [
      "how",
      "no `how`: this kind cancels; `kind: hold` holds bills back until a person releases them",
    ],
    ["unless", "`kind: hold`, which holds bills back until a person releases them"],
    ["then.hold", "no `hold`: a bill is always on hold before its payment is cancelled"],
    ["then.tooLate", "no `tooLate`: people are always notified if the bank has a payment already"],
  ]),
  checkTogether: check,
  compile,
});

function compile(name: string, input: CancelScheduledKeys): CancelScheduledPlaybook {
  const { business, choose, then, events } = input;
  return {
    kind: "cancel-scheduled",
    name,
    business: business ?? null,
    schedule: null,
    choose: { ...billChoice(choose), payments: choose?.payments ?? null },
    refundBusinessDays: then.refundIn,
    ...definedOnly({ events }),
  };
}

function check(written: unknown): Issue[] {
  if (!isRecord(written)) return [];
  const { choose = {}, events } = written;
  if (!isRecord(choose)) return [];
  const issues = [
    ...checkChosen(written, "`run`, `vendor`, `where` or `payments`"),
    ...checkEvents(events),
  ];
  if (!("payments" in choose)) return issues;
  if (events !== undefined) {
    issues.push({
      path: ["choose", "payments"],
      anchor: "key",
      message: "the event says which payments",
      expected: "no `payments` beside `events`",
    });
  }
  for (const other of ["run", "where"] as const) {
    if (!(other in choose)) continue;
    issues.push({
      path: ["choose", other],
      anchor: "key",
      message: `\`${other}\` chooses bills of runs, and here payments are named one by one`,
      expected: "`payments` alone, or with `vendor`",
    });
  }
  return issues;
}
