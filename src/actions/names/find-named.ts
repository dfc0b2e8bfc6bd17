import { setTimeout as sleep } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { folded, NAMED_KINDS, type NamedKind } from "../../domain/names.ts";
import { formatUsd } from "../../domain/money.ts";
import type { Tables } from "../../store/index.ts";
import { keepNames, namesOf } from "../../store/names/names.ts";
import { namedOrAll } from "../businesses.ts";
import type { ActionContext } from "../context.ts";
import { GatewayError } from "../errors.ts";
import { findAccounts } from "./accounts.ts";
import { findBills } from "./bills.ts";
import { type Found, type Looking, type Named, nothing } from "./found.ts";
import { findHolds, findPlaybooks, findRuns } from "./own.ts";
import { findPayments } from "./payments.ts";
import { findVendors } from "./vendors.ts";

const FINDERS: Readonly<Record<NamedKind, (looking: Looking) => Promise<Found>>> = {
  bill: findBills,
  vendor: findVendors,
  payment: findPayments,
  account: findAccounts,
  run: findRuns,
  playbook: findPlaybooks,
  hold: findHolds,
};

type Context = Pick<ActionContext, "store" | "profiles" | "clientOf" | "clocks">;

/** What a text may stand for, in all businesses that the caller acts for. */
export interface AllFound {
  readonly exact: readonly Named[];
  readonly near: readonly Named[];
  /** Businesses whose service could not be read, and why. */
  readonly unread: readonly { readonly business: string; readonly message: string }[];
}

/**
 * Finds what a person means by a number, a name, a short name or an id. This is the only place that
 * decides it, for commands, pages and other systems.
 *
 * @param kind if left out, all kinds are searched, without reading the service's whole lists
 */
export async function findNamed(
  context: Context,
  asked: {
    readonly text: string;
    readonly kind?: NamedKind | undefined;
    readonly business?: string | undefined;
    readonly runId?: string | undefined;
    readonly overToo?: boolean | undefined;
  },
): Promise<AllFound> {
  const text = asked.text.trim();
  const { runId, overToo } = asked;
  // The path of an address can't contain dots as an id; a text of nothing but accents is empty as it
  // is compared, and would be part of every name.
  if (/^\.{0,2}$/.test(text) || folded(text) === "") return { exact: [], near: [], unread: [] };
  const kinds = asked.kind === undefined ? SEARCHED : [asked.kind];
  const thorough = asked.kind !== undefined;
  const of = (profile: BusinessProfile, kind: NamedKind) => ({
    business: profile.name,
    found: FINDERS[kind]({ context, profile, text, runId, overToo, thorough }),
  });
  const asking = namedOrAll(context, asked.business).flatMap((profile) =>
    kinds.map((kind) => of(profile, kind)),
  );
  const all = await inTime(text, asking);
  const unread = new Map<string, string>();
  for (const { business, found } of all) {
    if (found.unread !== undefined) unread.set(business, found.unread);
  }
  return {
    exact: all.flatMap(({ found }) => found.exact),
    near: all.flatMap(({ found }) => found.near),
    unread: [...unread].map(([business, message]) => ({ business, message })),
  };
}

/** Once something has the very id that was asked for, slower services are given this long. */
const LATE_MS = 1_000;

interface OfBusiness<F> {
  readonly business: string;
  readonly found: F;
}

/** Waits for what was asked of all businesses, so that no service that hangs holds up the others. */
async function inTime(
  text: string,
  asking: readonly OfBusiness<Promise<Found>>[],
): Promise<readonly OfBusiness<Found>[]> {
  const late = new Promise<Found>((resolve, reject) => {
    for (const { found } of asking) {
      found
        .then(async ({ exact }) => {
          if (!exact.some(({ id }) => id === text)) return;
          await sleep(LATE_MS, undefined, { ref: false });
          resolve(nothing("it had not answered when another business's service had"));
        })
        .catch(reject);
    }
  });
  return Promise.all(
    asking.map(async ({ business, found }) => ({
      business,
      found: await Promise.race([found, late]),
    })),
  );
}

/** Payments are left out of a search for everything, since that finds their bill. */
const SEARCHED = NAMED_KINDS.filter((kind) => kind !== "payment");

/**
 * Returns the thing that has this id.
 *
 * @throws GatewayError 404 if there is none, with the nearest; 422 if several businesses have one;
 * 503 if only the service could say
 */
export async function thingOfId(
  context: Context,
  asked: {
    readonly id: string;
    readonly kind: NamedKind;
    readonly business?: string | undefined;
  },
): Promise<Named> {
  const { id, kind, business } = asked;
  const keeping = await businessesKeeping(context, asked);
  const of = keeping.length === 1 ? keeping[0] : business;
  const found = await findNamed(context, { text: id, kind, business: of });
  const [only, other] = found.exact.filter((each) => each.id === id);
  if (only !== undefined && other !== undefined) {
    throw new GatewayError(
      "business_ambiguous",
      `Several businesses have a ${kind} “${id}” (${only.business}, ${other.business}): say which one (“business”).`,
    );
  }
  if (only !== undefined) return only;
  const [unread] = found.unread;
  if (unread !== undefined) {
    throw new GatewayError(
      "service_unreachable",
      `The store knows no ${kind} “${id}”, and the service of ${unread.business} can't be asked: ${unread.message}.`,
    );
  }
  const meant = [...found.exact, ...found.near].slice(0, 3);
  const hint = meant.length === 0 ? "" : ` Did you mean ${meant.map(inWords).join(", or ")}?`;
  throw new GatewayError("not_found", `There is no ${kind} “${id}”.${hint}`, {
    candidates: meant,
  });
}

/**
 * Returns the businesses whose stores know a thing of this id. If it is one, no service needs to be
 * asked, and none can claim the id for itself.
 */
async function businessesKeeping(
  context: Context,
  { id, kind, business }: Parameters<typeof thingOfId>[1],
): Promise<string[]> {
  if (kind !== "bill" && kind !== "vendor" && kind !== "account") return [];
  const profiles = namedOrAll(context, business);
  const known = await Promise.all(
    profiles.map(({ businessId }) => namesOf(context.store.db, businessId, kind, [id])),
  );
  return profiles.filter((_, place) => known[place]?.has(id) === true).map(({ name }) => name);
}

/** Stores the names of something that a person acts on, so that lists can show them. */
export async function keepNamed(
  trx: Transaction<Tables>,
  businessId: string,
  { kind, id, number, name, amountCents }: Named,
): Promise<void> {
  if (kind !== "bill" && kind !== "vendor" && kind !== "account") return;
  if ((await namesOf(trx, businessId, kind, [id])).has(id)) return;
  const total = kind === "bill" ? amountCents : null;
  await keepNames(trx, businessId, [
    { kind, id, number, name, contactId: null, amountCents: total },
  ]);
}

function inWords({ id, number, name, amountCents }: Named): string {
  const called = [number, name].filter((text) => text !== null && text !== id);
  const amount = amountCents === null ? [] : [formatUsd(amountCents)];
  const said = [...called, ...amount].join(", ");
  return said === "" ? id : `${id} (${said})`;
}
