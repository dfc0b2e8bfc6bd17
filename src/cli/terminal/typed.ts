import { accessSync, constants } from "node:fs";
import { join } from "node:path";

import { programFolders } from "../../config.ts";

/** Folders that npm puts on the PATH of what it runs: whoever reads us has them on none. */
const NPMS_OWN = /[/\\](node_modules[/\\]\.bin|node-gyp-bin)$/;

/** A command of ours in a text, not yet spoken to npx, and not a path or a word that ends so. */
const OURS = /(?<![\w/.@-]|npx )payrun (?=[a-z])/g;

let name: string | undefined;

/** What a reader types to run us: `payrun` where a shell finds that, `npx payrun` elsewhere. */
function programName(): string {
  return (name ??= isOnPath() ? "payrun" : "npx payrun");
}

function isOnPath(): boolean {
  const endings = process.platform === "win32" ? [".cmd", ".exe"] : [""];
  return programFolders()
    .filter((folder) => !NPMS_OWN.test(folder))
    .some((folder) => endings.some((ending) => canRun(join(folder, `payrun${ending}`))));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A text with every command of ours in it as this reader can type it, whoever wrote the text. */
export function typeable(text: string): string {
  return text.replace(OURS, `${programName()} `);
}
