import { join } from "node:path";

import type { Store } from "../store/index.ts";
import { createToken, findToken } from "../store/tokens.ts";
import { readIfThere, writePrivate } from "./private-file.ts";

const pathIn = (home: string) => join(home, "admin.token");

/** The local administrator's token, as the commands on this machine find it. */
export function readLocalAdmin(home: string): string | undefined {
  const text = readIfThere(pathIn(home))?.trim();
  return text === "" ? undefined : text;
}

/**
 * Sees to it that the home holds a token of an administrator that its store knows. It implies no
 * approver's role: whoever approves has a token of their own.
 */
export async function ensureLocalAdmin(store: Store, home: string): Promise<string> {
  const known = readLocalAdmin(home);
  if (known !== undefined && (await findToken(store.db, known, Date.now())) !== undefined) {
    return known;
  }
  const { token } = await createToken(store, {
    name: "local-admin",
    roles: ["admin"],
    createdBy: "payrun up",
    nowMs: Date.now(),
  });
  writePrivate(pathIn(home), `${token}\n`);
  return token;
}
