import type { DecisionInput } from "../domain/approvals/policy.ts";
import { principalOf } from "../contracts/principal.ts";
import { tokensMadeBy } from "../store/approvals/tokens-made.ts";
import { authorsOf } from "../store/playbooks/playbooks.ts";
import type { Run } from "../store/runs/runs.ts";
import type { Db } from "../store/sql/db.ts";

/** The people of a run whose own approval doesn't count. */
export interface RunPeople
  extends Pick<DecisionInput, "playbookAuthors">, Pick<DecisionInput["run"], "launchers"> {
  /** Tokens that they made after the launch, and that nobody else has confirmed. */
  readonly theirTokens: ReadonlySet<string>;
}

/** Reads who may not approve anything of a run. */
export async function peopleOf(db: Db, run: Run): Promise<RunPeople> {
  const playbookAuthors = await authorsOf(db, run);
  // A schedule or an event launches on behalf of the people who wrote its playbook.
  const others = run.launchedByTokenId === null ? playbookAuthors : [];
  const launchers = [run.launchedBy, ...others];
  const theirTokens = await tokensMadeBy(db, launchers.map(principalOf), run.launchedAtMs);
  return { playbookAuthors, launchers, theirTokens };
}
