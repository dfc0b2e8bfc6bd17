import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { NAMESPACES } from "./namespaces.ts";

/** Takes a namespace of the shared server that no other test has, for the whole run. */
export function takeNamespace(): string {
  const folder = inject("temporalNamespaces");
  for (const namespace of NAMESPACES) {
    try {
      mkdirSync(join(folder, namespace));
      return namespace;
    } catch {
      // Another test has it.
    }
  }
  throw new Error("all test namespaces are taken: raise their number in namespaces.ts");
}
