/**
 * Returns the first name that an object of a valid JSON text has twice, at any depth; undefined if
 * there is none. Parsers silently take the last one, and others the first.
 */
export function repeatedMember(json: string): string | undefined {
  const open: Set<string>[] = [];
  const tokens = /["{}[\]]/g;
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const [token] = found;
    if (token === "{" || token === "[") open.push(new Set());
    else if (token !== '"') open.pop();
    else {
      tokens.lastIndex = endOfString(json, found.index);
      if (!isName(json, tokens.lastIndex)) continue;
      // Escapes spell the same name differently.
      const name = JSON.parse(json.slice(found.index, tokens.lastIndex)) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
  }
  return undefined;
}

/** Returns where a string ends. Searched, not matched: a pattern of many escapes needs a deep stack. */
function endOfString(json: string, begin: number): number {
  let quote = json.indexOf('"', begin + 1);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

/** True if a colon follows. */
function isName(json: string, end: number): boolean {
  const next = /\s*:/y;
  next.lastIndex = end;
  return next.test(json);
}
