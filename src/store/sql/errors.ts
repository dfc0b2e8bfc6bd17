export type StoreErrorCode =
  | "missing"
  | "foreign"
  | "incompatible"
  | "locked"
  | "replaced"
  | "corrupt"
  | "unreadable"
  | "unsupported"
  | "unreachable"
  | "refused"
  | "full"
  | "read_only"
  | "failing";

/**
 * The store can't be opened or reached; `message` says where, what, and what to do.
 *
 * - `missing`: there is no store, and none was to be created.
 * - `foreign`: the database belongs to something else; it was not touched.
 * - `incompatible`: another version of Payrun made it, with another schema; it was not touched.
 * - `locked`: another process kept the write lock for too long; nothing was written.
 * - `replaced`: its file was deleted or replaced while this process had it open, or isn't the one
 *   that the write-ahead log beside it belongs to.
 * - `corrupt`: the file is damaged.
 * - `unreadable`: the path can't be opened (rights, a folder).
 * - `unsupported`: the address names a kind of database that this version can't use.
 * - `unreachable`: the database server doesn't answer, or not in time.
 * - `refused`: the database server rejects this user or password, or denies access to the tables.
 * - `full`: the disk under the file, or the server's, has no room; nothing was written.
 * - `read_only`: the file, its file system, or the server takes no writes, as after a failover.
 * - `failing`: the disk, the file system or the server reports a fault of its own.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
