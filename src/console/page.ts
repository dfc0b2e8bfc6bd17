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

/** A page, or where it is. */
export type Made = Page | { readonly goTo: string };

export type PageOf = (request: PageRequest) => Promise<Made>;

/** What a form does: a page that says what came of it, or where that page is. */
export type ActOf = (request: PageRequest & { readonly form: URLSearchParams }) => Promise<Made>;
