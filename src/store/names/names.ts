import { sql, type Transaction } from "kysely";
import type { PlanLine, SkippedLine } from "../../contracts/pay-run.ts";
import { folded, type Name } from "../../domain/names.ts";
import { readerOf } from "../sql/as-record.ts";
import { chunks, type Db } from "../sql/db.ts";
import { findEach } from "../sql/records.ts";
import { rowsAs } from "../sql/rows-as.ts";
import type { Tables } from "../schema/tables.ts";

/** Stores what things are called now; what isn't given stays as it was. */
export async function keepNames(
  trx: Transaction<Tables>,
  businessId: string,
  names: readonly Name[],
): Promise<void> {
  const each = new Map(names.map((name) => [`${name.kind} ${name.id}`, name]));
  for (const some of chunks([...each.values()])) {
    const rows = rowsAs(
      "said",
      "names",
      some.map((name) => ({
        businessId,
        ...name,
        numberFolded: folded(name.number ?? ""),
        nameFolded: folded(name.name ?? ""),
      })),
    );
    await sql`
      insert into names (business_id, kind, id, number, name, contact_id, amount_cents,
        number_folded, name_folded)
      select business_id, kind, id, number, name, contact_id, amount_cents,
        number_folded, name_folded from ${rows} where true
      on conflict (business_id, kind, id) do update set
        number = coalesce(excluded.number, names.number),
        number_folded = case when excluded.number is null then names.number_folded
          else excluded.number_folded end,
        name = coalesce(excluded.name, names.name),
        name_folded = case when excluded.name is null then names.name_folded
          else excluded.name_folded end,
        contact_id = coalesce(excluded.contact_id, names.contact_id),
        amount_cents = coalesce(excluded.amount_cents, names.amount_cents)
      where names.number is distinct from excluded.number
        or names.name is distinct from excluded.name
        or names.contact_id is distinct from excluded.contact_id
        or names.amount_cents is distinct from excluded.amount_cents`.execute(trx);
  }
}

/**
 * Stores what a plan calls its bills, including those that it leaves out, their vendors and its
 * accounts.
 */
export async function keepNamesOfPlan(
  trx: Transaction<Tables>,
  businessId: string,
  plan: { readonly lines: readonly PlanLine[]; readonly skipped: readonly SkippedLine[] },
): Promise<void> {
  const total = await totalsKnown(trx, businessId, plan.skipped);
  const none = { number: null, name: null, contactId: null, amountCents: null };
  const bills = [
    ...plan.lines.map((line) => ({ ...line, amountCents: line.totalCents })),
    ...plan.skipped.map((bill) => ({ ...bill, amountCents: total(bill) })),
  ].map(({ payableId: id, publicId: number, contactName: name, contactId, amountCents }) => {
    return { kind: "bill" as const, id, number, name, contactId, amountCents };
  });
  const vendors = bills.flatMap(({ contactId: id, name }) =>
    id === null ? [] : [{ ...none, kind: "vendor" as const, id, name }],
  );
  const accounts = plan.lines.map(({ funding: { sourceId: id, last4: number, name } }) => {
    return { ...none, kind: "account" as const, id, number, name };
  });
  await keepNames(trx, businessId, [...bills, ...vendors, ...accounts]);
}

/**
 * Returns a function that gives the total of a bill that was left out. Some are left out with only
 * what was still owed of them: their total is what was known before.
 */
async function totalsKnown(
  trx: Transaction<Tables>,
  businessId: string,
  skipped: readonly SkippedLine[],
): Promise<(bill: SkippedLine) => number> {
  const parts = skipped.filter(({ code }) => MAY_BE_PART.includes(code));
  const ids = parts.map(({ payableId }) => payableId);
  const known = await namesOf(trx, businessId, "bill", ids);
  return ({ payableId, amountCents }) => known.get(payableId)?.amountCents ?? amountCents;
}

/** Codes of bills that are left out with what is owed of them, or with no known amount. */
const MAY_BE_PART: readonly string[] = ["claimed", "condition_failed", "unknown_bill"];

const toName = readerOf("names");

/** Returns the names of these ids, by id. */
export async function namesOf(
  db: Db,
  businessId: string,
  kind: Name["kind"],
  ids: readonly string[],
): Promise<Map<string, Name>> {
  const found = await findEach(db, "names", { businessId, kind }, "id", [...new Set(ids)]);
  return new Map(found.map((name) => [name.id, name]));
}

/**
 * Returns the names of these ids, whatever they are: a bill comes before a vendor, a vendor before
 * an account.
 */
export async function namesOfAnyKind(
  db: Db,
  businessId: string,
  ids: readonly string[],
): Promise<Map<string, Name>> {
  const found = new Map<string, Name>();
  for (const kind of ["account", "vendor", "bill"] as const) {
    for (const [id, name] of await namesOf(db, businessId, kind, ids)) found.set(id, name);
  }
  return found;
}

/** Returns the names with exactly this id, number or name. */
export async function namesCalled(
  db: Db,
  { businessId, kind, text }: { businessId: string; kind: Name["kind"]; text: string },
): Promise<Name[]> {
  const asTyped = folded(text);
  const rows = await ofKind(db, { businessId, kind })
    .where((eb) =>
      eb.or([
        eb("id", "=", text),
        ...(asTyped === ""
          ? []
          : [eb("number_folded", "=", asTyped), eb("name_folded", "=", asTyped)]),
      ]),
    )
    .orderBy("id")
    .execute();
  return rows.map(toName);
}

/** Returns the names whose number or name contains the text, or that have this amount. */
export async function namesWith(
  db: Db,
  asked: {
    readonly businessId: string;
    readonly kind: Name["kind"];
    readonly text: string;
    readonly amountCents: number | undefined;
    readonly limit: number;
  },
): Promise<Name[]> {
  const { amountCents } = asked;
  const rows = await ofKind(db, asked)
    .where((eb) =>
      eb.or([
        ...areLike(`%${escaped(asked.text)}%`),
        ...(amountCents === undefined ? [] : [eb("amount_cents", "=", amountCents)]),
      ]),
    )
    .orderBy("number_folded")
    .orderBy("id")
    .limit(asked.limit)
    .execute();
  return rows.map(toName);
}

/** Returns the names whose number or name begins with the text, the highest numbers first. */
export async function namesBeginning(
  db: Db,
  asked: {
    readonly businessId: string;
    readonly kind: Name["kind"];
    readonly begins: string;
    readonly limit: number;
  },
): Promise<Name[]> {
  const rows = await ofKind(db, asked)
    .where((eb) => eb.or(areLike(`${escaped(asked.begins)}%`)))
    .orderBy("number_folded", "desc")
    .orderBy("name_folded")
    .limit(asked.limit)
    .execute();
  return rows.map(toName);
}

function ofKind(db: Db, { businessId, kind }: Pick<Name, "kind"> & { businessId: string }) {
  return db
    .selectFrom("names")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("kind", "=", kind);
}

/** Returns two conditions: the number, and the name, matches a pattern. */
function areLike(pattern: string) {
  return [
    sql<boolean>`number_folded like ${pattern} escape '\\'`,
    sql<boolean>`name_folded like ${pattern} escape '\\'`,
  ];
}

/** Returns a text as people compare it, with the wildcards of a pattern escaped. */
function escaped(text: string): string {
  return folded(text).replaceAll(/[\\%_]/g, (letter) => `\\${letter}`);
}

/** Returns the names of a kind, the highest numbers first. */
export async function namesOfKind(
  db: Db,
  businessId: string,
  kind: Name["kind"],
  limit: number,
): Promise<Name[]> {
  const rows = await ofKind(db, { businessId, kind })
    .orderBy("number_folded", "desc")
    .limit(limit)
    .execute();
  return rows.map(toName);
}

/** Returns what a bill is called, in the fields that responses use. */
export function calledBill(name: Pick<Name, "number" | "name"> | undefined) {
  return { publicId: name?.number ?? null, contactName: name?.name ?? null };
}
