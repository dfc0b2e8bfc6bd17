/** Bills of dry plans, so that a plan of any size is read by page. */
export function dryPlanLines(): string[] {
  return [
    `create table dry_plan_lines (
      lines_id text not null,
      line_no bigint not null,
      skipped bigint not null,
      line text not null,
      created_at_ms bigint not null,
      primary key (lines_id, line_no)
    )`,
    `create index dry_plan_lines_by_age on dry_plan_lines (created_at_ms)`,
  ];
}
