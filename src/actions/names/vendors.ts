import type { Name } from "../../domain/names.ts";
import type { Contact } from "../../payments-api/index.ts";
import { namesCalled, namesOfKind, namesWith } from "../../store/names/names.ts";
import { NEAR_MOST } from "../../domain/suggest.ts";
import {
  answerOrReason,
  type Found,
  isCalled,
  type Looking,
  type Named,
  NAMES_COMPARED,
  nearestNames,
  soon,
  unlessUnknown,
  walking,
} from "./found.ts";

type Vendor = Pick<Name, "id" | "number" | "name"> & { readonly state: string | null };

interface Vendors {
  readonly exact: readonly Vendor[];
  readonly near: readonly Vendor[];
}

/** Finds vendors by id or name, in the store and at the service. */
export async function findVendors(looking: Looking): Promise<Found> {
  const { context, profile, text, thorough } = looking;
  const { db } = context.store;
  const asking = { businessId: profile.businessId, kind: "vendor", text } as const;
  const kept = await namesCalled(db, asking);
  const byId = kept.filter(({ id }) => id === text);
  if (byId.length > 0)
    return { exact: byId.map((name) => shown({ ...name, state: null })), near: [] };
  const { value, unread } = await answerOrReason(() => atService(looking));
  const part = { ...asking, amountCents: undefined, limit: NEAR_MOST };
  const within = kept.length > 0 ? [] : await namesWith(db, part);
  const known = async () => namesOfKind(db, profile.businessId, "vendor", NAMES_COMPARED);
  const isSought = kept.length === 0 && within.length === 0 && thorough;
  const keptNear = isSought ? nearestNames(await known(), text) : within;
  return {
    exact: together(kept, value?.exact),
    near: together(keptNear, value?.near),
    unread,
  };

  function together(names: readonly Name[], vendors: readonly Vendor[] = []): Named[] {
    const all = [...names.map((name) => ({ ...name, state: null })), ...vendors];
    return [...new Map(all.map((vendor) => [vendor.id, shown(vendor)])).values()];
  }
  function shown({ id, name, state }: Vendor): Named {
    const what = { kind: "vendor", id, business: profile.name } as const;
    return { ...what, number: null, name, amountCents: null, state };
  }
}

async function atService({ context, profile, text, thorough }: Looking): Promise<Vendors> {
  const { contacts } = context.clientOf(profile);
  const one = await unlessUnknown(() => contacts.get(text, soon()));
  if (one !== null) return { exact: [vendorOf(one)], near: [] };
  const page = await contacts.list({ search: text, pageSize: 100 }, soon());
  const searched = page.items.map(vendorOf);
  const called = searched.filter((vendor) => isCalled(vendor, text));
  if (called.length > 0) return { exact: called, near: [] };
  if (!thorough) return { exact: [], near: nearestNames(searched, text) };
  // It is undocumented whether the service's search minds accents, so all pages are read.
  const all: Vendor[] = [];
  for await (const items of contacts.iteratePages({}, walking())) all.push(...items.map(vendorOf));
  return {
    exact: all.filter((vendor) => isCalled(vendor, text)),
    near: nearestNames(all, text),
  };
}

function vendorOf({ id, displayName: name, status }: Contact): Vendor {
  return { id, number: null, name, state: status };
}
