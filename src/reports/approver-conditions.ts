import type { Condition } from "../api/conditions.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { unheldRoles } from "../domain/approvals/roles-asked.ts";
import { coversBusinesses, tokenProblem } from "../domain/approvals/token.ts";
import { listTokens } from "../store/approvals/tokens.ts";
import type { Db } from "../store/index.ts";
import { listPlaybooks } from "../store/playbooks/playbooks.ts";

interface Asked {
  readonly db: Db;
  readonly profiles: readonly BusinessProfile[];
  readonly sandboxesOnly: boolean;
  readonly nowMs: number;
}

/** Bills that nobody could approve, as after a role that was mistyped here or there. */
export async function approverConditions({
  db,
  nowMs,
  profiles,
  sandboxesOnly,
}: Asked): Promise<Condition[]> {
  const tokens = (await listTokens(db)).filter(
    (token) => tokenProblem(token, { nowMs, sandboxesOnly }) === undefined,
  );
  const found = profiles.map(async ({ name: business, signers = [], identities = [] }) => {
    const theirs = tokens.filter((token) => coversBusinesses(token.businesses, [business]));
    const held = new Set([...theirs, ...signers, ...identities].flatMap(({ roles }) => roles));
    const playbooks = await listPlaybooks(db, business);
    return playbooks.flatMap(({ name, compiled }) =>
      unheldRoles(compiled, held).map(({ by, meant }) => {
        const text = `${name} asks for an approval by ${by.join(" or ")}, and nobody has that role`;
        const make = `payrun token create NAME --role ${by[0] ?? ""}`;
        const remedy =
          meant.length === 0
            ? `An administrator makes a token: ${make}`
            : `Did you mean ${meant.join(", ")}? Correct the playbook, or make a token: ${make}`;
        return { code: "nobody-approves", severity: "warning", business, text, remedy } as const;
      }),
    );
  });
  return (await Promise.all(found)).flat();
}
