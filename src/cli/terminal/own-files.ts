import { fileURLToPath } from "node:url";

/** The top of the checkout, or of the package's compiled files, which have the same layout. */
const ROOT = new URL("../../../", import.meta.url);

/** Returns the path of one of our files, given relative to the top. */
export function ownFile(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}
