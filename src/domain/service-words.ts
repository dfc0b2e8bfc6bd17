/**
 * The service's own words, as the end of a sentence for people. They may name people and accounts,
 * so they are marked: {@link withoutServiceWords} takes them out of what a history keeps.
 */
export function serviceSays(words: string | null | undefined): string {
  const said = (words ?? "").trim().replaceAll("”", "'");
  return said === "" ? "" : ` The service says: “${said}”`;
}

/** A text without what {@link serviceSays} added, also if it was cut in the middle of it. */
export function withoutServiceWords(text: string): string {
  return text
    .replaceAll(/\. The service says: “[^”]*(?:”|$)(?=\.|$)/g, "")
    .replaceAll(/ The service says: “[^”]*(?:”|$)/g, "");
}
