import type { Condition } from "../api/conditions.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { Playbook } from "../contracts/playbook.ts";
import { unheldRoles } from "../domain/approvals/roles-asked.ts";
import { coversBusinesses, tokenProblem } from "../domain/approvals/token.ts";
import { listTokens, type Token } from "../store/approvals/tokens.ts";
import type { Db } from "../store/index.ts";
import { listPlaybooks } from "../store/playbooks/playbooks.ts";

interface Judging {
  readonly db: Db;
  readonly sandboxesOnly: boolean;
  readonly nowMs: number;
}

/**
 * Returns a warning for bills that nobody could approve, for example because a role is mistyped in
 * a playbook or a token.
 */
export async function approverConditions({
  profiles,
  ...judging
}: Judging & { readonly profiles: readonly BusinessProfile[] }): Promise<Condition[]> {
  const tokens = await tokensThatCount(judging);
  const found = profiles.map(async (profile): Promise<Condition[]> => {
    const playbooks = await listPlaybooks(judging.db, profile.name);
    return playbooks.flatMap(({ name, compiled }) =>
      unheldTexts(name, compiled, heldRoles(profile, tokens)).map((texts) => {
        const business = profile.name;
        return { code: "nobody_approves", severity: "warning", business, ...texts } as const;
      }),
    );
  });
  return (await Promise.all(found)).flat();
}

/** Checks one playbook, stored or not, in the same way; returns the problems as sentences. */
export async function nobodyApproves(
  judging: Judging,
  profile: BusinessProfile,
  { name, playbook }: { readonly name: string; readonly playbook: Playbook },
): Promise<string[]> {
  const held = heldRoles(profile, await tokensThatCount(judging));
  return unheldTexts(name, playbook, held).map(({ text, remedy }) => `${text}. ${remedy}`);
}

async function tokensThatCount({ db, ...now }: Judging): Promise<Token[]> {
  return (await listTokens(db)).filter((token) => tokenProblem(token, now) === undefined);
}

function heldRoles(
  { name, signers = [], identities = [] }: BusinessProfile,
  tokens: readonly Token[],
): ReadonlySet<string> {
  const theirs = tokens.filter((token) => coversBusinesses(token.businesses, [name]));
  return new Set([...theirs, ...signers, ...identities].flatMap(({ roles }) => roles));
}

function unheldTexts(
  name: string,
  playbook: Playbook,
  held: ReadonlySet<string>,
): Pick<Condition, "text" | "remedy">[] {
  return unheldRoles(playbook, held).map(({ by, meant }) => {
    const text = `${name} asks for an approval by ${by.join(" or ")}, and nobody has that role`;
    const make = `payrun token create NAME --role ${by[0] ?? ""}`;
    const remedy =
      meant.length === 0
        ? `An administrator makes a token: ${make}`
        : `Did you mean ${meant.join(", ")}? Correct the playbook, or make a token: ${make}`;
    return { text, remedy };
  });
}
