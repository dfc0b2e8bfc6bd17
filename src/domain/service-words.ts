/**
 * Quotes the service's own words at the end of a sentence for people. They may name people and
 * accounts, so they are marked: {@link withoutServiceWords} removes them before a history keeps the
 * text.
 */
export function serviceSays(words: string | null | undefined): string {
  const said = (words ?? "").trim().replaceAll("”", "'");
  return said === "" ? "" : ` The service says: “${said}”`;
}

/** Removes what {@link serviceSays} added, even if the text was cut within it. */
export function withoutServiceWords(text: string): string {
  return text
    .replaceAll(/\. The service says: “[^”]*(?:”|$)(?=\.|$)/g, "")
    .replaceAll(/ The service says: “[^”]*(?:”|$)/g, "");
}
