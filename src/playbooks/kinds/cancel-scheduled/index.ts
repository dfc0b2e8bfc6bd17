import type { CancelScheduledPlaybook } from "../../../contracts/playbook.ts";
import { checkEvents } from "../../events.ts";
import type { Issue } from "../../source.ts";
import { playbookKind } from "../kind.ts";
import { type CancelScheduledInput, cancelScheduledSchema } from "./schema.ts";

/** Withholds bills until they are released, or cancels scheduled payments. */
export const cancelScheduledKind = playbookKind({
  schema: cancelScheduledSchema,
  checkTogether: check,
  compile,
});

const UNTIL = { time: "17:00", businessDaysBefore: 1 } as const;

function compile(name: string, input: CancelScheduledInput): CancelScheduledPlaybook {
  const { choose, unless, then } = input;
  return {
    kind: "cancel-scheduled",
    name,
    business: input.business ?? null,
    schedule: null,
    choose: {
      run: choose?.run ?? null,
      where: choose?.where ?? null,
      vendor: choose?.vendor ?? null,
      payments: choose?.payments ?? null,
    },
    how: input.how ?? "not-submitted-until-released",
    releasedBy: unless?.releasedBy ?? ["controller", "owner"],
    until: unless?.until ?? UNTIL,
    refundBusinessDays: then?.refundIn ?? 3,
    ...(input.events === undefined ? {} : { events: input.events }),
  };
}

function check(written: unknown): Issue[] {
  if (!isRecord(written)) return [];
  const { choose = {}, how, events } = written;
  if (!isRecord(choose)) return [];
  const cancels = how === "cancel-already-scheduled";
  const issue = (path: Issue["path"], message: string, expected: string): Issue => ({
    path,
    anchor: "key",
    message,
    expected,
  });
  if (Object.keys(choose).length === 0 && events === undefined) {
    const message = "choose" in written ? "`choose` names nothing" : "`choose` is missing";
    return [issue(["choose"], message, "`run`, `vendor`, `where` or `payments`")];
  }
  const issues: Issue[] = checkEvents(events);
  if (events !== undefined && "payments" in choose) {
    const expected = "no `payments` beside `events`";
    issues.push(issue(["choose", "payments"], "the event says which payments", expected));
  }
  for (const other of ["run", "where"] as const) {
    if (cancels && "payments" in choose && other in choose) {
      const message = `\`${other}\` chooses bills of runs, and here payments are named one by one`;
      issues.push(issue(["choose", other], message, "`payments` alone, or with `vendor`"));
    }
  }
  if (!cancels && "payments" in choose) {
    issues.push(
      issue(
        ["choose", "payments"],
        "payments are with the service already, so they can't be withheld",
        "`how: cancel-already-scheduled` to cancel them",
      ),
    );
  }
  if (!cancels && events !== undefined && !("run" in choose)) {
    issues.push(
      issue(
        ["choose"],
        "bills are withheld from a run, and the events name none",
        "`run: weekly-vendors`",
      ),
    );
  }
  if (cancels && "unless" in written) {
    issues.push(
      issue(
        ["unless"],
        "only what is withheld can be released",
        "no `unless` where it is cancelled",
      ),
    );
  }
  return issues;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
