import { type Author, SystemAuthor } from "../../contracts/authors.ts";
import type { Store } from "../../store/index.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import { createToken, findToken } from "../../store/approvals/tokens.ts";
import {
  LOCAL_ADMIN,
  LOCAL_APPROVER,
  localAdminPath,
  personPath,
  readToken,
} from "../home/people.ts";
import { writePrivate } from "../home/private-file.ts";

export interface PersonToMake {
  readonly name: string;
  readonly roles: readonly string[];
  readonly createdBy: Author;
}

/** The roles that the playbooks that come with Payrun ask for. */
export const APPROVER_ROLES: readonly string[] = ["controller", "owner"];

const CREATED_BY = new SystemAuthor("payrun up");

/**
 * Makes sure that the home holds an administrator's token that its store knows. It implies no
 * approver's role: an approver has a separate token.
 */
export function ensureLocalAdmin(store: Store, home: string): Promise<string> {
  const person = { name: LOCAL_ADMIN, roles: ["admin"], createdBy: CREATED_BY };
  return ensurePerson(store, localAdminPath(home), person);
}

/** Does the same for a person who approves what the local administrator launches. */
export function ensureLocalApprover(store: Store, home: string): Promise<string> {
  const person = { name: LOCAL_APPROVER, roles: APPROVER_ROLES, createdBy: CREATED_BY };
  return ensurePerson(store, personPath(home, LOCAL_APPROVER), person);
}

/** Makes sure that a file holds a token of this person that the store knows. @returns the token */
export async function ensurePerson(
  store: Store,
  path: string,
  person: PersonToMake,
): Promise<string> {
  const known = readToken(path);
  if (known !== undefined && (await counts(store, known))) return known;
  const { token } = await createToken(store, { ...person, nowMs: Date.now() });
  writePrivate(path, `${token}\n`);
  return token;
}

/** True if a token of a person at a sandbox is valid now. */
async function counts(store: Store, text: string): Promise<boolean> {
  const token = await findToken(store.db, text);
  const now = { nowMs: Date.now(), sandboxesOnly: true };
  return token !== undefined && tokenProblem(token, now) === undefined;
}
