import { posix } from "node:path";
import { parseSync } from "oxc-parser";

/** Returns the files that a file imports when it runs. */
export function importsOf(file: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(file, source).module;
  const requests = [
    ...staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ isType, moduleRequest }) => (isType ? [] : [moduleRequest?.value ?? ""])),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ];
  return requests
    .filter((request) => request.startsWith("."))
    .map((request) => posix.join(posix.dirname(file), request));
}

/**
 * Returns the tests that import a file, also through others: those in the folder that mirrors its
 * own first, then those that are nearest to it.
 */
export function testsOf(
  file: string,
  tests: ReadonlySet<string>,
  imports: ReadonlyMap<string, readonly string[]>,
): string[] {
  const importers = new Map<string, string[]>();
  for (const [importer, imported] of imports) {
    for (const each of imported) importers.set(each, [...(importers.get(each) ?? []), importer]);
  }
  const reached = new Set([file]);
  // A set goes on to what is added meanwhile.
  for (const each of reached) for (const by of importers.get(each) ?? []) reached.add(by);
  const mirror = posix.join("test", posix.dirname(file).replace(/^src\//, ""));
  const isFar = (test: string) => Number(posix.dirname(test) !== mirror);
  return [...reached].filter((each) => tests.has(each)).sort((a, b) => isFar(a) - isFar(b));
}
