/** Where the console's pages are, behind the gateway's public address: pages and notices link to them. */

export const NEEDS_ACTION_PAGE = "/needs-action";

export function runPage(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

/** Where a deposit that a run asks for is decided, as it was looked at. */
export function depositPage(runId: string, hash: string, planHash: string | null): string {
  return `${runPage(runId)}/deposit?topUp=${encodeURIComponent(hash)}&plan=${encodeURIComponent(planHash ?? "")}`;
}

/** Where holds are released, once it was seen what goes out then. */
export function releasePage(holds: readonly string[]): string {
  return `/holds/release?${holds.map((id) => `id=${encodeURIComponent(id)}`).join("&")}`;
}

/** @param business which of several businesses it is of, where that is known */
export function billPage(payableId: string, business?: string): string {
  return `/bills/${encodeURIComponent(payableId)}${of(business)}`;
}

export function vendorPage(contactId: string, business?: string): string {
  return `/vendors/${encodeURIComponent(contactId)}${of(business)}`;
}

export function reportPage(runId: string): string {
  return `/reports/${encodeURIComponent(runId)}`;
}

/** What is stopped; everything of a business where nothing else is named. */
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
