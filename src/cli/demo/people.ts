import { join } from "node:path";

import { openStore } from "../../store/index.ts";
import { createToken } from "../../store/approvals/tokens.ts";
import { counts } from "../parts/ensure-local-admin.ts";
import { readIfThere, writePrivate } from "../home/private-file.ts";

/** Who takes part in the demo, and what each may do. */
const ROLES = {
  /** Has an approver's role as well, to show that it does not help with a run of its own. */
  launcher: ["launcher", "controller"],
  controller: ["controller"],
  owner: ["owner"],
} as const;

export type Person = keyof typeof ROLES;

export interface People {
  readonly token: (person: Person) => string;
  /** Where the person's own process finds the token. */
  readonly tokenFile: (person: Person) => string;
}

/** Sees to it that each of them has a token, made before anything is launched. */
export async function invitePeople(home: string, databaseUrl: string): Promise<People> {
  const tokenFile = (person: Person) => join(home, "people", `${person}.token`);
  const tokens = new Map<Person, string>();
  const store = await openStore(databaseUrl);
  try {
    for (const person of ["launcher", "controller", "owner"] as const) {
      const known = readIfThere(tokenFile(person))?.trim() ?? "";
      if (await counts(store, known)) {
        tokens.set(person, known);
        continue;
      }
      const made = await createToken(store, {
        name: person,
        roles: ROLES[person],
        createdBy: "local-admin",
        nowMs: Date.now(),
      });
      writePrivate(tokenFile(person), `${made.token}\n`);
      tokens.set(person, made.token);
    }
  } finally {
    await store.close();
  }
  return { tokenFile, token: (person) => tokens.get(person) ?? "" };
}
