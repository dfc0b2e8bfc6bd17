import type { Api } from "./api.ts";
import type { PageContent } from "./layout.ts";
import type { Visitor } from "./visitor.ts";

/** What a page is built from: the visitor, the request, and the API as the visitor may use it. */
export interface PageRequest {
  readonly visitor: Visitor;
  readonly api: Api;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Returns the requested page of a long list; the first by default. */
export function pageNumberOf(query: URLSearchParams): number {
  return Math.max(1, Number(query.get("page") ?? "1") || 1);
}

/** A page, or the address to go to. */
export type MadePage = PageContent | { readonly goTo: string };

export type PageOf = (request: PageRequest) => Promise<MadePage>;

/** The action of a form: returns a page with the result, or that page's address. */
export type ActOf = (
  request: PageRequest & { readonly form: URLSearchParams },
) => Promise<MadePage>;
