import { join } from "node:path";

import { readIfThere } from "./private-file.ts";

/** Where the local administrator's token lies. */
export const localAdminPath = (home: string) => join(home, "admin.token");

/** The local administrator's token, as the commands on this machine find it. */
export function readLocalAdmin(home: string): string | undefined {
  const text = readIfThere(localAdminPath(home))?.trim();
  return text === "" ? undefined : text;
}
