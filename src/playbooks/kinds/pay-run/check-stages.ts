import { counted } from "../../../domain/counted.ts";
import type { Span } from "../../../contracts/playbook.ts";
import type { Issue, Path } from "../../source.ts";
import { readSpan, shown } from "../../texts.ts";
import { isRecord } from "../../../contracts/is-record.ts";
import { repeated } from "../../check-values.ts";
import { quorum as quorumSchema } from "./approvers.ts";
import { payRunDefaults, payRunSchema } from "./schema.ts";

type Written = Readonly<Record<string, unknown>>;

/** The most people that `quorum` can require. */
const PEOPLE_MAX = 10;

/** What `quorum` is if it isn't written. */
const QUORUM = quorumSchema.parse(undefined);

/** Returns the approval rules of a playbook as they are written, and where. */
export function writtenRules({ approve }: Written): {
  readonly rules: readonly unknown[];
  readonly path: Path;
} {
  const path = isRecord(approve) ? ["approve", "rules"] : ["approve"];
  const rules = isRecord(approve) ? approve["rules"] : approve;
  return { rules: Array.isArray(rules) ? rules : [], path };
}

/** Finds mistakes between the stages of one rule, or in a rule without stages. */
export function checkStages(rule: Written, path: Path): Issue[] {
  const { by, stages, escalate } = rule;
  const issues: Issue[] = [
    ...(Array.isArray(by) ? repeated(by, [...path, "by"]) : []),
    ...checkEscalation(escalate, by, [...path, "escalate"]),
  ];
  if (!Array.isArray(stages)) return issues;
  for (const key of ["by", "quorum"] as const) {
    if (rule[key] === undefined) continue;
    issues.push({
      path: [...path, key],
      anchor: "key",
      message: `\`${key}\` and \`stages\` exclude each other`,
      expected: `\`${key}\` within each stage, or no stages`,
    });
  }
  const list: readonly unknown[] = stages;
  list.forEach((stage, index) => {
    if (!isRecord(stage)) return;
    const here = [...path, "stages", index];
    if (Array.isArray(stage["by"])) issues.push(...repeated(stage["by"], [...here, "by"]));
    issues.push(...checkEscalation(stage["escalate"], stage["by"], [...here, "escalate"]));
  });
  return [...issues, ...rolesAgain(list, path), ...tooMany(list, path)];
}

/**
 * Finds roles that two stages have: nobody counts in two stages, so one of them could have no
 * approver left.
 */
function rolesAgain(stages: readonly unknown[], path: Path): Issue[] {
  const first = new Map<unknown, number>();
  return stages.flatMap((stage, index): Issue[] => {
    const by: unknown = isRecord(stage) ? stage["by"] : undefined;
    if (!Array.isArray(by)) return [];
    const roles: readonly unknown[] = by;
    return roles.flatMap((role, place): Issue[] => {
      const before = first.get(role);
      if (before === undefined) first.set(role, index);
      if (before === undefined || before === index || typeof role !== "string") return [];
      return [
        {
          path: [...path, "stages", index, "by", place],
          anchor: "value",
          message: `${shown(role)} decides in stage ${before + 1} already, and nobody counts in two stages`,
          expected: "other roles in each stage; `quorum` asks for more people of one",
        },
      ];
    });
  });
}

function tooMany(stages: readonly unknown[], path: Path): Issue[] {
  const people = stages.reduce<number>((sum, stage) => {
    const quorum: unknown = isRecord(stage) ? stage["quorum"] : undefined;
    return sum + (typeof quorum === "number" ? quorum : QUORUM);
  }, 0);
  if (people <= PEOPLE_MAX) return [];
  return [
    {
      path: [...path, "stages"],
      anchor: "value",
      message: `nobody can reach ${people} different people`,
      expected: `at most ${PEOPLE_MAX} people in all stages together`,
    },
  ];
}

function checkEscalation(escalate: unknown, by: unknown, path: Path): Issue[] {
  if (!isRecord(escalate) || !Array.isArray(escalate["to"])) return [];
  const to: readonly unknown[] = escalate["to"];
  const twice = repeated(to, [...path, "to"]);
  const own: readonly unknown[] = Array.isArray(by) ? by : [];
  if (to.length === 0 || own.length === 0 || to.some((role) => !own.includes(role))) return twice;
  return [
    ...twice,
    {
      path: [...path, "to"],
      anchor: "value",
      message: "this escalates to roles that decide here anyway",
      expected: "a role that is not in `by`",
    },
  ];
}

/** Finds mistakes in reminders and escalations, compared with how long an approval may take. */
export function checkAsking(playbook: Written): Issue[] {
  const { approvalValid, escalate, remind } = playbook;
  const limit = payRunSchema.shape.approvalValid.safeParse(approvalValid ?? undefined);
  const days = limit.success ? limit.data : 365;
  const { rules, path: above } = writtenRules(playbook);
  const places: [unknown, Path][] = [
    [remind, ["remind"]],
    [escalate, ["escalate"]],
    ...rules.flatMap((rule, index): [unknown, Path][] => {
      if (!isRecord(rule)) return [];
      const stages: readonly unknown[] = Array.isArray(rule["stages"]) ? rule["stages"] : [];
      return [
        [rule["escalate"], [...above, index, "escalate"]],
        ...stages.map((stage, place): [unknown, Path] => [
          isRecord(stage) ? stage["escalate"] : undefined,
          [...above, index, "stages", place, "escalate"],
        ]),
      ];
    }),
  ];
  return [
    ...places.flatMap(([block, path]) => tooLate(block, [...path, "after"], days)),
    ...(isRecord(escalate) && Array.isArray(escalate["to"])
      ? [...repeated(escalate["to"], ["escalate", "to"]), ...asksNobody(escalate["to"], rules)]
      : []),
  ];
}

function tooLate(block: unknown, path: Path, days: number): Issue[] {
  const span = isRecord(block) ? readSpan(block["after"], { most: 60, example: "1 day" }) : null;
  if (span === null || !span.ok || daysOf(span.value) < days) return [];
  return [
    {
      path,
      anchor: "value",
      message: `by then nobody can approve any more: \`approvalValid\` is ${counted(days, "day")}`,
      expected: "less than `approvalValid`",
    },
  ];
}

function daysOf({ count, unit }: Span): number {
  return unit === "hours" ? count / 24 : unit === "days" ? count : (count * 7) / 5;
}

function asksNobody(to: readonly unknown[], rules: readonly unknown[]): Issue[] {
  const stages = rules.flatMap((rule): readonly unknown[] =>
    isRecord(rule) && Array.isArray(rule["stages"]) ? rule["stages"] : [rule],
  );
  const asked = stages.map((stage): readonly unknown[] => {
    const by: unknown = isRecord(stage) ? stage["by"] : undefined;
    return Array.isArray(by) ? by : [];
  });
  const all =
    asked.length === 0
      ? payRunDefaults.approve.rules.map(({ by }): readonly unknown[] => by ?? [])
      : asked;
  if (to.length === 0 || all.some((by) => to.some((role) => !by.includes(role)))) return [];
  return [
    {
      path: ["escalate", "to"],
      anchor: "value",
      message: "this escalates to roles that decide everywhere anyway",
      expected: "a role that some rule of `approve` does not name",
    },
  ];
}
