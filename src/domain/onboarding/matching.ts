/** Who somebody is, as far as the service shows it. */
export interface Person {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly ssnLast4?: string | null | undefined;
}

/** Somebody whom we know. */
type Known = Readonly<Record<keyof Person, string>>;

/**
 * Whether somebody is listed already: `listed` where name and last four agree with one, `unclear`
 * where only one of the two does, or the list doesn't show both: then a person has to say.
 */
export function matchOfficer(
  officer: Known,
  listed: readonly Person[],
): "listed" | "unclear" | "new" {
  let unclear = false;
  for (const other of listed) {
    const name = sameName(officer, other);
    const shown = other.ssnLast4 ?? undefined;
    const number = shown === undefined ? undefined : lastFour(shown) === officer.ssnLast4;
    if (name === true && number === true) return "listed";
    if (name === true || number === true) unclear = true;
    if (name === undefined && number === undefined) unclear = true;
  }
  return unclear ? "unclear" : "new";
}

/** The last four characters of a number, however it is separated. */
export function lastFour(number: string): string {
  return number.replace(/[^0-9A-Za-z]/g, "").slice(-4);
}

/** Undefined where the other's name isn't shown whole. */
function sameName(officer: Known, other: Person): boolean | undefined {
  const { firstName, lastName } = other;
  if (typeof firstName !== "string" || typeof lastName !== "string") return undefined;
  return (
    plain(firstName) === plain(officer.firstName) && plain(lastName) === plain(officer.lastName)
  );
}

/** Without case, accents and punctuation: services write names in their own way. */
function plain(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}
