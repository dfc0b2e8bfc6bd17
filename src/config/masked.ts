const MASK = "••••••";

/** Parameters of an address that are secrets, by what their names end with. */
const SECRET = String.raw`[\w.-]*(?:password|passwd|pwd|secret|token|key|signature|sig)`;

/** An address without the secrets in it: its user's password, and parameters such as `password`. */
export function masked(address: string): string {
  return address
    .replace(/(\/\/[^/?#@:\s]*):[^/?#\s]*@/g, `$1:${MASK}@`)
    .replace(new RegExp(`([?&]${SECRET}=)[^&#\\s]*`, "gi"), `$1${MASK}`);
}
