/** A person, as far as the service shows one. */
export interface OfficerShown {
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  readonly ssnLast4?: string | null | undefined;
}

/** A person with all fields known. */
type Known = Readonly<Record<keyof OfficerShown, string>>;

/**
 * Compares an officer with those that the service lists. `listed`: name and last four digits match
 * one. `unclear`: only one of the two matches, or the list shows neither, so a person must decide.
 */
export function matchOfficer(
  officer: Known,
  listed: readonly OfficerShown[],
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

/** Returns the last four characters of a number, without its separators. */
export function lastFour(number: string): string {
  return number.replace(/[^0-9A-Za-z]/g, "").slice(-4);
}

/** True if the whole names match; undefined if the service doesn't show the whole name. */
function sameName(officer: Known, other: OfficerShown): boolean | undefined {
  const { firstName, lastName } = other;
  if (typeof firstName !== "string" || typeof lastName !== "string") return undefined;
  return (
    plain(firstName) === plain(officer.firstName) && plain(lastName) === plain(officer.lastName)
  );
}

/** Removes case, accents and punctuation: services write names in their own way. */
function plain(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}
