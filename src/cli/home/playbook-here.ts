import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { rolesOfRule } from "../../domain/approvals/rules.ts";
import { loadPlaybook } from "../../playbooks/load.ts";
import { ownFile } from "../terminal/own-files.ts";

/** A pay run's playbook in a file, with what people type to use it. */
interface FoundPlaybook {
  readonly name: string;
  /** Relative to the folder, or absolute if the file is elsewhere. */
  readonly path: string;
  /** Roles that approve. */
  readonly roles: readonly string[];
}

/**
 * Returns the playbook to begin with in a folder: the pay run in it, such as `payrun init` writes;
 * otherwise the example that comes with Payrun.
 */
export function playbookHere(folder: string): FoundPlaybook {
  const files = namesIn(folder).filter((file) => /(?<!\.test)\.ya?ml$/.test(file));
  for (const file of files) {
    const found = payRunIn(join(folder, file), file);
    if (found !== undefined) return found;
  }
  const example = ownFile("playbooks/weekly-vendors.yaml");
  const fromHere = relative(folder, example);
  const path = fromHere.startsWith("..") ? example : fromHere;
  return payRunIn(example, path) ?? { name: "weekly-vendors", path, roles: [] };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function payRunIn(file: string, path: string): FoundPlaybook | undefined {
  try {
    const loaded = loadPlaybook(readFileSync(file, "utf8"), { file: basename(file) });
    if (!loaded.ok || loaded.playbook.kind !== "pay-run") return undefined;
    const { name, approve } = loaded.playbook;
    return { name, path, roles: [...new Set(approve.flatMap(rolesOfRule))] };
  } catch {
    return undefined;
  }
}
