import type { BusinessProfile } from "../../config/business-profile.ts";
import { shortName } from "../../contracts/workflow-kinds.ts";
import { folded, type Name, type NamedKind } from "../../domain/names.ts";
import { activeHolds } from "../../store/holds/holds.ts";
import { namesBeginning, namesOfAnyKind } from "../../store/names/names.ts";
import { newestWorkflows } from "../../store/names/workflows-called.ts";
import { listPlaybooks } from "../../store/playbooks/playbooks.ts";
import { namedOrAll } from "../businesses.ts";
import type { ActionContext } from "../context.ts";

type Context = Pick<ActionContext, "store" | "profiles" | "clientOf" | "clocks">;

/** Kinds whose names a shell completes. */
export const COMPLETED_KINDS = [
  "bill",
  "vendor",
  "account",
  "run",
  "playbook",
  "hold",
] as const satisfies readonly NamedKind[];

type CompletedKind = (typeof COMPLETED_KINDS)[number];

/** Most names in one answer. */
const NAMES_MOST = 50;

/**
 * Returns the names that begin with a text. Reads the store alone, so that a shell can wait for it.
 */
export async function beginningSo(
  context: Context,
  asked: {
    readonly kind: CompletedKind;
    readonly begins: string;
    readonly business?: string | undefined;
  },
): Promise<string[]> {
  const { kind, begins } = asked;
  // Nothing but accents: empty as it is compared, and every name would begin with it.
  if (begins.trim() !== "" && folded(begins) === "") return [];
  const all = await Promise.all(
    namedOrAll(context, asked.business).map((profile) =>
      NAMES[kind](context, profile, begins.trim()),
    ),
  );
  const names = [...new Set(all.flat())].filter((name) => name !== "");
  return names.filter((name) => isBegun(name, begins)).slice(0, NAMES_MOST);
}

function isBegun(name: string, begins: string): boolean {
  return folded(name).startsWith(folded(begins));
}

type Names = (context: Context, profile: BusinessProfile, begins: string) => Promise<string[]>;

const NAMES: Readonly<Record<CompletedKind, Names>> = {
  bill: called("bill"),
  vendor: called("vendor"),
  account: called("account"),
  run: async ({ store }, { businessId }) => {
    const runs = await newestWorkflows(store.db, businessId, RUNS_LISTED);
    return [...runs.map(({ playbook }) => playbook), ...runs.map(({ id }) => shortName(id))];
  },
  playbook: async ({ store }, { name }) =>
    (await listPlaybooks(store.db, name)).map((playbook) => playbook.name),
  hold: async ({ store, clocks }, profile) => {
    const { businessMs } = await clocks.read(profile);
    const holds = await activeHolds(store.db, profile.businessId, businessMs);
    const values = holds.map(({ value }) => value);
    const things = await namesOfAnyKind(store.db, profile.businessId, values);
    return [...calls([...things.values()]), ...holds.map(({ holdId }) => holdId)];
  },
};

/** The number of newest runs whose short names are offered. */
const RUNS_LISTED = 200;

/** Reads the numbers and names of a kind that the store has. */
function called(kind: "bill" | "vendor" | "account"): Names {
  return async ({ store }, { businessId }, begins) => {
    const asked = { businessId, kind, begins, limit: NAMES_MOST };
    const names = await namesBeginning(store.db, asked);
    return calls(names);
  };
}

/** Lists numbers before names. */
function calls(names: readonly Pick<Name, "number" | "name">[]): string[] {
  const all = [...names.map(({ number }) => number), ...names.map(({ name }) => name)];
  return all.filter((name) => name !== null);
}
