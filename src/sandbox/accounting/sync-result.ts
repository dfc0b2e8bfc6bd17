/** What a sync did with the records of one entity type. */
export interface SyncResult {
  /** New in the service. */
  created: number;
  /** Known before, and changed. */
  updated: number;
  unchanged: number;
  /** Left as they are: paid, void, or on their way, so that the books can't have their way. */
  skipped: number;
  /** Bills that the service has paid since, told to the books. */
  pushed: number;
}

/** Counts what `sync` says of each record. */
export function countResults<T>(
  records: readonly T[],
  sync: (record: T) => keyof SyncResult,
): SyncResult {
  const result: SyncResult = { created: 0, updated: 0, unchanged: 0, skipped: 0, pushed: 0 };
  for (const record of records) result[sync(record)] += 1;
  return result;
}
