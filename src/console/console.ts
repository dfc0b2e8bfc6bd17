import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { Api } from "./api.ts";
import { fileNamed } from "./files.ts";
import { standAlonePage, around, type PageContent, PAGE_HEADERS } from "./layout.ts";
import type { ActOf, MadePage, PageOf, PageRequest } from "./page.ts";
import { approve, checkApproval, checkRejection, reject } from "./pages/approve.ts";
import { checkDeposit, decideDeposit } from "./pages/deposit.ts";
import { bill } from "./pages/bill.ts";
import { cancelBill, giveUpAct, holdBill, paidElsewhere, retryBill } from "./pages/bill-acts.ts";
import { checkRecall, emergency, recall } from "./pages/emergency.ts";
import { holds } from "./pages/holds.ts";
import { newHold, setHold } from "./pages/new-hold.ts";
import { decideIncidentAct, incident } from "./pages/incident.ts";
import { checkResolution, needsAction, resolveBills } from "./pages/needs-action.ts";
import { checkRelease, checkReleaseAll, release, releaseAll } from "./pages/releases.ts";
import { forExcel } from "../domain/for-excel.ts";
import { showReport, reports, TABLE_FORMATS } from "./pages/report.ts";
import { run } from "./pages/run.ts";
import { cancelRun, holdRun } from "./pages/run-acts.ts";
import { confirmAccountsAct } from "./pages/changed-records.ts";
import { checkStop, stopAct } from "./pages/stop.ts";
import { today } from "./pages/today.ts";
import { showFound } from "./pages/search.ts";
import { holdVendor, vendor } from "./pages/vendor.ts";
import { refusalPage } from "./refusal-page.ts";
import type { Door, Visitor } from "./visitor.ts";

/** The path of the pages' own files. */
export const FILES = "/console/:file";
/** A browser keeps these files for a year: a file's address changes with its text. */
const KEPT = "public, max-age=31536000, immutable";

/** For each address, its page and the action of the page's form. */
const PAGES: Readonly<Record<string, { readonly page?: PageOf; readonly act?: ActOf }>> = {
  "/": { page: today },
  "/runs/:id": { page: run },
  "/runs/:id/approve": { page: checkApproval, act: approve },
  "/runs/:id/reject": { page: checkRejection, act: reject },
  "/runs/:id/accounts": { act: confirmAccountsAct },
  "/runs/:id/deposit": { page: checkDeposit, act: decideDeposit },
  "/runs/:id/hold": holdRun,
  "/runs/:id/cancel": cancelRun,
  "/bills/:id": { page: bill },
  "/bills/:id/hold": holdBill,
  "/bills/:id/cancel": cancelBill,
  "/bills/:id/retry": retryBill,
  "/bills/:id/paid-elsewhere": paidElsewhere,
  "/bills/:id/give-up": giveUpAct,
  "/vendors/:id": { page: vendor },
  "/vendors/:id/hold": holdVendor,
  "/needs-action": { page: needsAction },
  "/needs-action/resolve": { page: checkResolution, act: resolveBills },
  "/incidents/:source": { page: incident, act: decideIncidentAct },
  "/search": { page: showFound },
  "/emergency": { page: emergency },
  "/emergency/stop": { page: checkStop, act: stopAct },
  "/emergency/cancel": { page: checkRecall, act: recall },
  "/reports": { page: reports },
  "/reports/:id": { page: showReport },
  "/holds": { page: holds },
  "/holds/new": { page: newHold, act: setHold },
  "/holds/release": { page: checkRelease, act: release },
  "/holds/release-all": { page: checkReleaseAll, act: releaseAll },
};

/** Builds the console's pages, behind a door that knows who is signed in. */
export function createConsole(door: Door): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  });
  app.get(FILES, (c) => {
    const file = fileNamed(c.req.param("file"));
    if (file === undefined) return c.notFound();
    return c.body(file.text, 200, { "content-type": file.type, "cache-control": KEPT });
  });

  app.get("/reports/:id/:file{.+\\.csv}", (c) => downloaded(door, c));
  for (const [path, { page, act }] of Object.entries(PAGES)) {
    if (page !== undefined) app.get(path, (c) => shown(door, c, page));
    if (act !== undefined) app.post(path, (c) => done(door, c, act));
  }
  return app;
}

/** Answers with a page for the visitor; a visitor who is not signed in is sent to sign in first. */
function shown(door: Door, c: Context, page: PageOf): Promise<Response> {
  return forVisitor(door, c, async (visitor) => page(requestOf(c, visitor)));
}

function done(door: Door, c: Context, act: ActOf): Promise<Response> {
  return forVisitor(door, c, async (visitor) => {
    const form = await door.readForm(c, visitor);
    return act({ ...requestOf(c, visitor), form });
  });
}

/** Answers with a table that is generated while it is sent. */
async function downloaded(door: Door, c: Context): Promise<Response> {
  const format = (c.req.param("file") ?? "").replace(/\.csv$/, "");
  const id = c.req.param("id") ?? "";
  if (!TABLE_FORMATS.includes(format)) return c.notFound();
  let table: AsyncIterable<string> | undefined;
  const answer = await forVisitor(door, c, async (visitor) => {
    table = await new Api(visitor).table("/v1/runs/{id}/report", {
      params: { id },
      query: { format },
    });
    return { goTo: "/" };
  });
  if (table === undefined) return answer;
  const bytes = ReadableStream.from(forExcel(table)).pipeThrough(new TextEncoderStream());
  const name = `${id.replaceAll(/[^\w.-]+/g, "-")}-${format}.csv`;
  return c.body(bytes, 200, {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="${name}"`,
  });
}

function requestOf(c: Context, visitor: Visitor): PageRequest {
  return {
    visitor,
    api: new Api(visitor),
    params: c.req.param(),
    query: new URL(c.req.url).searchParams,
  };
}

async function forVisitor(
  door: Door,
  c: Context,
  make: (visitor: Visitor) => Promise<MadePage>,
): Promise<Response> {
  let visitor: Visitor | undefined;
  // A form that decides about a plan has a page at its own address, and the banners there say if
  // the plan has changed.
  const answered = (page: PageContent): PageContent =>
    c.req.method === "GET"
      ? page
      : { ...page, bannersOf: page.planHash === undefined ? "/" : c.req.path };
  try {
    visitor = await door.visitorOf(c);
    if (visitor === undefined) return c.redirect(signInFor(c), 303);
    const made = await make(visitor);
    if ("goTo" in made) return c.redirect(made.goTo, 303);
    return await c.html(
      around(visitor, c.req.path, answered(made)),
      (made.status ?? 200) as ContentfulStatusCode,
    );
  } catch (error) {
    const refused = door.refusalOf(c, error);
    if (refused.status === 401) return c.redirect(signInFor(c), 303);
    const { status, message } = refused;
    const isAct = c.req.method !== "GET";
    const page = answered(refusalPage({ status, message, back: cameFrom(c), isAct }));
    return refusedTo(door, c, { visitor, page, status });
  }
}

async function refusedTo(
  door: Door,
  c: Context,
  of: {
    readonly visitor: Visitor | undefined;
    readonly page: PageContent;
    readonly status: number;
  },
): Promise<Response> {
  const { visitor, page } = of;
  const status = of.status as ContentfulStatusCode;
  try {
    return await c.html(
      visitor === undefined ? standAlonePage(page) : around(visitor, "", page),
      status,
    );
  } catch (again) {
    // What surrounds each page can't be read either.
    door.refusalOf(c, again);
    return c.html(standAlonePage(page), status);
  }
}

/**
 * Answers for an address without a page. A signed-in visitor gets the usual ways on; others are not
 * asked to sign in, since they would gain nothing by it.
 */
export async function nothingHere(door: Door, c: Context): Promise<Response> {
  let visitor: Visitor | undefined;
  try {
    visitor = await door.visitorOf(c);
  } catch (error) {
    // The session can't be read: the visitor gets the page for everyone.
    door.refusalOf(c, error);
  }
  const back = cameFrom(c);
  const isSignedIn = visitor !== undefined;
  const page = refusalPage({ status: 404, message: "", back, isSignedIn });
  return refusedTo(door, c, { visitor, page, status: 404 });
}

/**
 * Returns the sign-in address that leads back to the page afterwards. For a submitted form it leads
 * back to the form's page, where the person sends the form again.
 */
function signInFor(c: Context): string {
  const back = c.req.method === "GET" ? c.req.url : formsPage(c);
  const { pathname, search } = new URL(back, c.req.url);
  const to = `${pathname}${search}`;
  const said = {
    ...(to === "/" ? {} : { to }),
    ...(c.req.method === "GET" ? {} : { unsent: "true" }),
  };
  const query = new URLSearchParams(said).toString();
  return query === "" ? "/sign-in" : `/sign-in?${query}`;
}

/**
 * Returns the console's page on which the person followed a link or pressed a button; undefined if
 * there is none.
 */
function cameFrom(c: Context): string | undefined {
  const from = URL.parse(c.req.header("referer") ?? "");
  if (from === null || from.host !== c.req.header("host")) return undefined;
  const page = `${from.pathname}${from.search}`;
  const here = new URL(c.req.url);
  return page === `${here.pathname}${here.search}` || page === "/" ? undefined : page;
}

/**
 * Returns the page of the submitted form. If an earlier answer to the same form was that page, it
 * has no address of its own, and this is `/`.
 */
function formsPage(c: Context): string {
  const page = URL.parse(c.req.header("referer") ?? "");
  if (page === null) return "/";
  return page.pathname === c.req.path && page.search === "" ? "/" : page.href;
}
