/**
 * The service that the suite tests. Without an address the suite starts a sandbox of its own; with
 * one, which `npm run conformance` sets, it does only what is allowed there.
 */
export interface Target {
  url: string;
  token: string;
  /**
   * True if contacts, drafts and webhook endpoints may be created; they are archived or deleted
   * again.
   */
  mayWrite: boolean;
  /** True if one cent may be scheduled; it is cancelled again. */
  mayPay: boolean;
}

/** The service to test; undefined for a sandbox. */
export const target: Target | undefined = targetOf(process.env);

function targetOf(env: NodeJS.ProcessEnv): Target | undefined {
  const { CONFORMANCE_URL: url, CONFORMANCE_TOKEN: token, CONFORMANCE_ALLOW: allow = "" } = env;
  if (url === undefined || token === undefined) return undefined;
  const allowed = allow.split(",");
  return {
    url: url.replace(/\/+$/, ""),
    token,
    mayWrite: allowed.includes("writes"),
    mayPay: allowed.includes("payments"),
  };
}
