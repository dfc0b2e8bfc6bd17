import type { Store } from "../../store/index.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import { createToken, findToken } from "../../store/approvals/tokens.ts";
import { localAdminPath, readLocalAdmin } from "../home/local-admin.ts";
import { writePrivate } from "../home/private-file.ts";

/**
 * Sees to it that the home holds a token of an administrator that its store knows. It implies no
 * approver's role: whoever approves has a token of their own.
 */
export async function ensureLocalAdmin(store: Store, home: string): Promise<string> {
  const known = readLocalAdmin(home);
  if (known !== undefined && (await counts(store, known))) return known;
  const { token } = await createToken(store, {
    name: "local-admin",
    roles: ["admin"],
    createdBy: "payrun up",
    nowMs: Date.now(),
  });
  writePrivate(localAdminPath(home), `${token}\n`);
  return token;
}

/** True where a token of a sandbox's people counts at this moment. */
export async function counts(store: Store, text: string): Promise<boolean> {
  const token = await findToken(store.db, text);
  const now = { nowMs: Date.now(), sandboxesOnly: true };
  return token !== undefined && tokenProblem(token, now) === undefined;
}
