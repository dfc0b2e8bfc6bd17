import type { Api } from "./api.ts";
import type { Page } from "./layout.ts";
import type { Visitor } from "./visitor.ts";

/** What a page is made of: who asks, what for, and the API as they may use it. */
export interface PageRequest {
  readonly visitor: Visitor;
  readonly api: Api;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Which page of a long list is asked for; the first unless the address says another. */
export function pageNumberOf(query: URLSearchParams): number {
  return Math.max(1, Number(query.get("page") ?? "1") || 1);
}

/** A page, or where it is. */
export type Made = Page | { readonly goTo: string };

export type PageOf = (request: PageRequest) => Promise<Made>;

/** What a form does: a page that says what came of it, or where that page is. */
export type ActOf = (request: PageRequest & { readonly form: URLSearchParams }) => Promise<Made>;
