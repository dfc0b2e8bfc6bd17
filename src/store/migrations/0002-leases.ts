/** What only one process, or a few, may do at a time. */
export function leases(): string[] {
  return [
    `create table leases (
      name text primary key not null,
      holder text not null,
      until_ms bigint not null
    )`,
  ];
}
