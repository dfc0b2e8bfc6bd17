/**
 * Returns a text as it is compared with others: in Unicode's composed form (NFC), so that an `é`
 * and an `e` with an accent, which look the same, are the same.
 *
 * Conditions and texts from outside go through here before one reads the other; names that people
 * search go through `folded`, which ignores accents.
 */
export function composed(text: string): string {
  return text.normalize("NFC");
}
