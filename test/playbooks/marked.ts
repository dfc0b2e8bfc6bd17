import { expect } from "vitest";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import type { Problem } from "../../src/playbooks/problem.ts";

/** Loads a text that must be refused, and returns its problems. */
export function problemsOf(text: string): readonly Problem[] {
  const result = loadPlaybook(text, { file: "weekly.yaml" });
  if (result.ok) throw new Error("the playbook was accepted");
  return result.problems;
}

/**
 * Checks that the text between « and » is the only mistake found, at exactly that place.
 *
 * @returns the mistake, for further checks.
 */
export function onlyMistake(marked: string): Problem {
  const start = marked.indexOf("«");
  const end = marked.indexOf("»") - 1;
  const text = marked.replace("«", "").replace("»", "");
  const before = text.slice(0, start);
  const line = before.split("\n").length;
  const column = start - (before.lastIndexOf("\n") + 1) + 1;
  const problems = problemsOf(text);
  const places = problems.map((p) => ({
    line: p.line,
    from: p.column,
    to: p.endColumn,
    m: p.message,
  }));
  expect(places).toEqual([
    { line, from: column, to: column + Math.max(1, end - start), m: expect.any(String) },
  ]);
  const [problem] = problems;
  if (problem === undefined) throw new Error("no mistake was found");
  expect(problem.sourceLine).toBe(text.split(/\r?\n/)[line - 1]);
  return problem;
}
