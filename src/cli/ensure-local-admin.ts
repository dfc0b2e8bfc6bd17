import type { Store } from "../store/index.ts";
import { createToken, findToken } from "../store/tokens.ts";
import { localAdminPath, readLocalAdmin } from "./local-admin.ts";
import { writePrivate } from "./private-file.ts";

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
  writePrivate(localAdminPath(home), `${token}\n`);
  return token;
}
