import { fileURLToPath } from "node:url";

/** The top of the checkout, or of what the package has compiled, which is laid out alike. */
const ROOT = new URL("../../../", import.meta.url);

/** Path of a file of ours, from the top. */
export function ownFile(path: string): string {
  return fileURLToPath(new URL(path, ROOT));
}
