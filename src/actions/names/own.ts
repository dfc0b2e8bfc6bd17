import { shortName } from "../../contracts/workflow-kinds.ts";
import { folded } from "../../domain/names.ts";
import { isSetByPayrun } from "../../domain/holds.ts";
import { NEAR_MOST, suggest } from "../../domain/suggest.ts";
import { activeHolds, getHold, type Hold, namesOfHolds } from "../../store/holds/holds.ts";
import { runNamed } from "../../store/names/run-named.ts";
import type { CalledWorkflow } from "../../store/names/workflows-called.ts";
import { listPlaybooks } from "../../store/playbooks/playbooks.ts";
import { type Found, isCalled, type Looking, type Named } from "./found.ts";

/**
 * Finds runs of any kind by id, by `rent` for the newest of a playbook, and by `rent/2026-11-26`.
 */
export async function findRuns({ context, profile, text }: Looking): Promise<Found> {
  const { businessId, name: business } = profile;
  const { run, near } = await runNamed(context.store.db, { businessId, business }, text);
  return { exact: run === undefined ? [] : [shown(run)], near: near.map(shown) };

  function shown({ id, phase: state, totalCents: amountCents, playbook }: CalledWorkflow): Named {
    const what = { kind: "run", id, business, number: shortName(id) } as const;
    return { ...what, name: playbook || null, amountCents, state };
  }
}

export async function findPlaybooks({ context, profile, text }: Looking): Promise<Found> {
  const stored = await listPlaybooks(context.store.db, profile.name);
  const names = stored.map(({ name }) => name);
  const same = names.filter((name) => name === text);
  const exact = same.length > 0 ? same : names.filter((name) => folded(name) === folded(text));
  const part = names.filter((name) => folded(name).includes(folded(text)));
  const meant = suggest(text, names);
  const near = part.length > 0 ? part : meant === undefined ? [] : [meant];
  return { exact: exact.map(shown), near: exact.length > 0 ? [] : near.map(shown) };

  function shown(name: string): Named {
    const state = stored.find((each) => each.name === name)?.kind ?? null;
    const what = { kind: "playbook", id: name, business: profile.name, number: null } as const;
    return { ...what, name, amountCents: null, state };
  }
}

/** Finds holds by id, or those in force by what they are on. */
export async function findHolds(looking: Looking): Promise<Found> {
  const { context, profile, text } = looking;
  const { db } = context.store;
  const { businessId } = profile;
  const byId = await getHold(db, text);
  if (byId?.businessId === businessId) {
    return { exact: await shown([byId]), near: [] };
  }
  const { businessMs } = await context.clocks.read(profile);
  const inForce = await activeHolds(db, businessId, businessMs);
  const named = await shown(inForce);
  const runs = (await findRuns(looking)).exact.map(({ id }) => id);
  const onRun = new Set(
    inForce.flatMap(({ scope, value, holdId }) =>
      scope === "run" && runs.includes(value) ? holdId : [],
    ),
  );
  const isMeant = (hold: Named) =>
    onRun.has(hold.id) ||
    (text.length >= 12 && hold.id.startsWith(text)) ||
    isCalled(hold, text) ||
    (hold.number === null && folded(hold.name ?? "").endsWith(` ${folded(text)}`));
  const called = named.filter(isMeant);
  // A vendor's name means the hold on the vendor, if there is one, and not those on its bills.
  const onBill = new Set(
    inForce.flatMap(({ scope, holdId }) => (scope === "payable" ? holdId : [])),
  );
  const others = called.filter(
    ({ id, number }) => !onBill.has(id) || isCalled({ number, name: null }, text),
  );
  const exact = others.length > 0 ? others : called;
  return { exact, near: exact.length > 0 ? [] : named.slice(0, NEAR_MOST) };

  async function shown(holds: readonly Hold[]): Promise<Named[]> {
    const called = await namesOfHolds(db, holds);
    return holds.map(({ holdId: id, scope, value, releasedAtMs, ...set }) => {
      const name = called.get(id);
      const what = { kind: "hold", id, business: profile.name } as const;
      return {
        ...what,
        number: name?.number ?? null,
        name: scope === "all" ? "everything" : (name?.name ?? `${scope} ${value}`),
        amountCents: name?.amountCents ?? null,
        state: releasedAtMs === null ? setText(set) : "released",
      };
    });
  }
}

/** Returns the text that distinguishes holds on the same thing. */
function setText(hold: Pick<Hold, "author" | "authorKind" | "reason">): string {
  return `${isSetByPayrun(hold) ? "" : `${hold.author}: `}${hold.reason}`;
}
