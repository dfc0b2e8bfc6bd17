/** Stands for a secret. */
export const MASK = "••••••";

/** Parameters of an address that are secrets, recognized by the ends of their names. */
const SECRET = String.raw`[\w.-]*(?:password|passwd|pwd|secret|token|key|signature|sig)`;

/** Masks the secrets in an address: its user's password, and parameters such as `password`. */
export function masked(address: string): string {
  return address
    .replace(/(\/\/[^/?#@:\s]*):[^/?#\s]*@/g, `$1:${MASK}@`)
    .replace(new RegExp(`([?&]${SECRET}=)[^&#\\s]*`, "gi"), `$1${MASK}`);
}

/** Shows where an address leads, and nothing else of it: not its user, and not its path. */
export function maskedBehindHost(address: string): string {
  const url = URL.parse(address.trim());
  return url === null || url.host === "" ? MASK : `${url.protocol}//${url.host}/${MASK}`;
}
