import type { Stream } from "../world/random.ts";

/** What every answer may be about; bank accounts are the one thing that must be believed. */
const BELIEVED: readonly string[] = ["bank-accounts", "clock"];

export function mayLie(url: URL): boolean {
  return !url.pathname.split("/").some((part) => BELIEVED.includes(part));
}

type Place = Readonly<Record<string, unknown>> | readonly unknown[];

/** Fields that a source may try to add to a request. */
const ADDED: Readonly<Record<string, unknown>> = {
  bankAccountId: "bank_of_a_stranger",
  amountCents: 777_777,
  payableId: "bill_2",
  contactId: "con_1",
  scheduledAt: "2030-01-07",
  clearing: "NEXT_AVAILABLE",
  paymentRail: "WIRE",
  fundingSource: "x".repeat(5_000),
  achAuthorizationAccepted: true,
};

const WORDS: readonly string[] = [
  ...["scheduled", "completed", "failed", "returned", "cancelled", "held", "approved", "void"],
  ...["bill_1", "bill_2", "con_1", "con_2", "balance", "bank_main", "bank_of_a_stranger", "9999"],
];

const DATES: readonly string[] = ["0026-01-05", "2020-01-06", "2031-12-31", "tomorrow"];

/**
 * Returns a copy of an answer with one or two fields that are not true.
 *
 * @param often a field that is often chosen
 */
export function lied(body: unknown, lots: Stream, often: string): unknown {
  const copy = structuredClone(body);
  if (!isPlace(copy)) return copy;
  const times = lots.between(1, 2);
  for (let time = 0; time < times; time += 1) {
    const fields = fieldsOf(copy);
    if (fields.length === 0) break; // The first lie took the only field.
    const chosen = fields.filter(([, name]) => name === often);
    const [place, name] = lots.pick(chosen.length > 0 && lots.chance(0.5) ? chosen : fields);
    const given = Reflect.get(place, name) as unknown;
    if (lots.chance(0.15)) Reflect.deleteProperty(place, name);
    else Reflect.set(place, name, insteadOf(name, given, lots));
  }
  return copy;
}

/** Returns every field of an answer, with the record or list that it is in. */
function fieldsOf(place: Place): (readonly [Place, string])[] {
  const inner = Object.values(place).filter(isPlace).flatMap(fieldsOf);
  return [...Object.keys(place).map((name) => [place, name] as const), ...inner];
}

function isPlace(value: unknown): value is Place {
  return typeof value === "object" && value !== null;
}

function insteadOf(name: string, given: unknown, lots: Stream): unknown {
  if (name === "pay") {
    const all = Object.entries(ADDED);
    const [added, value] = lots.pick(lots.chance(0.3) ? all.slice(0, 1) : all);
    return { ...(given as object), [added]: value };
  }
  if (lots.chance(0.1)) return lots.pick([null, {}, [], "", -1, 0.5, 2 ** 60]);
  if (typeof given === "boolean") return !given;
  if (typeof given === "number") return lots.pick([0, 1, given + 1, given * 10, 777_777]);
  const isDate = typeof given === "string" && /^\d{4}-/.test(given);
  return lots.pick(isDate ? DATES : WORDS);
}
