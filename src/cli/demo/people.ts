import { openStore } from "../../store/open.ts";
import { ensurePerson } from "../parts/ensure-people.ts";
import { personPath } from "../home/people.ts";

/** The demo's people and their roles. */
const ROLES = {
  /** Also has an approver's role, to show that it doesn't help with its own run. */
  launcher: ["launcher", "controller"],
  controller: ["controller"],
  owner: ["owner"],
} as const;

export type DemoPerson = keyof typeof ROLES;

export interface People {
  readonly token: (person: DemoPerson) => string;
  /** Returns the path at which the person's own process finds the token. */
  readonly tokenFile: (person: DemoPerson) => string;
}

/** Makes sure that each of them has a token, made before anything is launched. */
export async function invitePeople(home: string, databaseUrl: string): Promise<People> {
  const tokenFile = (person: DemoPerson) => personPath(home, person);
  const tokens = new Map<DemoPerson, string>();
  const store = await openStore(databaseUrl);
  try {
    for (const name of ["launcher", "controller", "owner"] as const) {
      const person = { name, roles: ROLES[name], createdBy: "local-admin" };
      tokens.set(name, await ensurePerson(store, tokenFile(name), person));
    }
  } finally {
    await store.close();
  }
  return { tokenFile, token: (person) => tokens.get(person) ?? "" };
}
