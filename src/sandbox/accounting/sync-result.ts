/** What a sync did with the records of one entity type. */
export interface SyncResult {
  /** Records that are new in the service. */
  created: number;
  /** Records that were known before, and changed. */
  updated: number;
  unchanged: number;
  /**
   * Records that were left as they are because they are paid, void or on their way: the books can't
   * change those.
   */
  skipped: number;
  /** Bills that the service has paid since, and now marked as paid in the books. */
  pushed: number;
}

/** Counts what `sync` returns for each record. */
export function countResults<T>(
  records: readonly T[],
  sync: (record: T) => keyof SyncResult,
): SyncResult {
  const result: SyncResult = { created: 0, updated: 0, unchanged: 0, skipped: 0, pushed: 0 };
  for (const record of records) result[sync(record)] += 1;
  return result;
}
