/**
 * Paths of the console's pages, relative to the gateway's public address. Pages and notices link to
 * them.
 */

export const NEEDS_ACTION_PAGE = "/needs-action";

export function runPage(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

/**
 * Returns the page that decides a run's deposit request. It names the request and the plan that the
 * person saw.
 */
export function depositPage(runId: string, hash: string, planHash: string | null): string {
  return `${runPage(runId)}/deposit?topUp=${encodeURIComponent(hash)}&plan=${encodeURIComponent(planHash ?? "")}`;
}

/** Returns the page that shows what goes out once these holds are released, and releases them. */
export function releasePage(holds: readonly string[]): string {
  return `/holds/release?${holds.map((id) => `id=${encodeURIComponent(id)}`).join("&")}`;
}

/** @param business the bill's business, if it is known; there may be several */
export function billPage(payableId: string, business?: string): string {
  return `/bills/${encodeURIComponent(payableId)}${of(business)}`;
}

export function vendorPage(contactId: string, business?: string): string {
  return `/vendors/${encodeURIComponent(contactId)}${of(business)}`;
}

export function reportPage(runId: string): string {
  return `/reports/${encodeURIComponent(runId)}`;
}

/** What to stop: everything of the business if no other field is set. */
export interface StopNamed {
  readonly run?: string;
  readonly source?: string;
  readonly contactId?: string;
  readonly business: string;
}

export function stopPage(named: StopNamed): string {
  return `/emergency/stop?${new URLSearchParams({ ...named }).toString()}`;
}

function of(business: string | undefined): string {
  return business === undefined ? "" : `?business=${encodeURIComponent(business)}`;
}
