/** A string, with the colon that makes it a member's name, or the bounds of an object or array. */
const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/**
 * Returns the first name that an object of a valid JSON text has twice, at any depth; undefined if
 * there is none. Parsers silently take the last one, and others the first.
 */
export function repeatedMember(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, text, colon] of json.matchAll(TOKENS)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (text === undefined) open.pop();
    else if (colon !== undefined) {
      // Escapes spell the same name differently.
      const name = JSON.parse(text) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
  }
  return undefined;
}
