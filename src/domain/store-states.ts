/** How a store takes writes. */
export const STORE_STATES = [
  "ok",
  "unreachable",
  "replaced",
  "locked",
  "full",
  "read_only",
  "refused",
  "failing",
] as const;

export type StoreState = (typeof STORE_STATES)[number];

/** What stands still, and what to do about it; without details, because anyone may read it. */
export const STORE_TROUBLES: Readonly<
  Record<Exclude<StoreState, "ok">, { readonly text: string; readonly remedy: string }>
> = {
  unreachable: {
    text: "the store can't be reached",
    remedy: "Start its server, or set PAYRUN_DATABASE_URL to where it is.",
  },
  replaced: {
    text: "the store's file was deleted or replaced while this process had it open",
    remedy: "Put the right file in place, then start the gateway again, and the workers.",
  },
  locked: {
    text: "another process keeps the store locked, so that nothing can be written",
    remedy:
      "Close whatever has the store open (a database browser, a backup, a copy), or end it; workers and gateways then go on by themselves.",
  },
  full: {
    text: "the store's disk is full, so that nothing can be written",
    remedy: "Make room on it; workers and gateways then go on by themselves.",
  },
  read_only: {
    text: "the store is read-only, so that nothing can be written",
    remedy:
      "If its server is a standby, or was made read-only, let PAYRUN_DATABASE_URL lead to the one that takes writes; if its file or file system is, make that writable. Workers and gateways then go on by themselves.",
  },
  refused: {
    text: "the store's server refuses the user or its writes",
    remedy:
      "Check user and password in PAYRUN_DATABASE_URL, and the role's rights (“payrun store grants” prints them).",
  },
  failing: {
    text: "the store fails, so that nothing can be written",
    remedy: "The logs of the gateway and of the database server say why; look at the disk.",
  },
};
