import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { parseArgs } from "node:util";
import { badPage } from "./bad-manners.ts";
import {
  amountCents,
  BANK_ACCOUNTS,
  contactOf,
  contactView,
  FUNDING_SOURCES,
  newBusiness,
  type NewStubBusiness,
  payableView,
  paymentView,
  type StubAnswer,
  type StubBusiness,
  type StubPayment,
  vendorCount,
} from "./stub-book.ts";

/**
 * A Payments Service that does only what a run without errors needs, from memory, with a fixed
 * delay for each answer. It is a process of its own, so that its work is measured apart.
 *
 * `POST /stub/businesses` creates or replaces a business, `GET /stub/businesses/{id}` returns its
 * counts.
 */
const { values } = parseArgs({
  options: {
    "latency-ms": { type: "string", default: "20" },
    "exit-with-parent": { type: "boolean", default: false },
  },
});
const latencyMs = Number(values["latency-ms"]);
const businesses = new Map<string, StubBusiness>();

const server = createServer((request, response) => {
  const parts: Uint8Array[] = [];
  request.on("data", (part: Uint8Array) => parts.push(part));
  request.on("end", () => {
    const body = parts.length === 0 ? "" : Buffer.concat(parts).toString("utf8");
    const path = request.url ?? "/";
    if (path.startsWith("/stub/")) return send(response, control(path, body));
    const business = businesses.get(request.headers.authorization?.slice("Bearer ".length) ?? "");
    if (business === undefined) return send(response, problem(401, "unauthorized"));
    void badly(business, path, response).then((page) => {
      const answer = page ?? limited(business) ?? answered(business, request, body);
      setTimeout(() => {
        if (request.method === "POST") business.counts.lastPaidMs = Date.now();
        send(response, answer);
      }, latencyMs);
    });
  });
});

/** Returns a page of a service that behaves badly; undefined for everything else. */
async function badly(
  business: StubBusiness,
  path: string,
  response: ServerResponse,
): Promise<StubAnswer | undefined> {
  const { manner, counts } = business;
  if (manner === undefined) return undefined;
  counts.waiting += 1;
  counts.mostWaiting = Math.max(counts.mostWaiting, counts.waiting);
  // Also if the one who waits gives up.
  response.once("close", () => void (counts.waiting -= 1));
  const { pathname, searchParams } = new URL(path, "http://stub");
  const found = await badPage(manner, business, {
    resource: pathname.slice("/v1/".length),
    page: Number(searchParams.get("page") ?? 1),
    pageSize: Number(searchParams.get("pageSize") ?? 25),
  });
  counts.reads += 1;
  return found && json(200, found);
}

function send(response: ServerResponse, { status, text, headers }: StubAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

function control(path: string, body: string): StubAnswer {
  if (body !== "") {
    const wanted = JSON.parse(body) as NewStubBusiness;
    businesses.set(wanted.token, newBusiness(wanted));
    return json(201, { businessId: wanted.businessId });
  }
  const id = path.split("/").at(-1);
  const found = [...businesses.values()].find(({ businessId }) => businessId === id);
  if (found === undefined) return problem(404, "not_found");
  const paid = [...found.byPayable.values()].map((payments) => payments.length);
  return json(200, {
    ...found.counts,
    paidBills: paid.length,
    paidMoreThanOnce: paid.filter((times) => times > 1).length,
  });
}

function limited(business: StubBusiness): StubAnswer | undefined {
  if (business.requestsPerSecond === undefined) return undefined;
  const second = Math.floor(Date.now() / 1_000);
  if (second !== business.second) {
    business.second = second;
    business.letThrough = 0;
  }
  business.letThrough += 1;
  if (business.letThrough <= business.requestsPerSecond) return undefined;
  business.counts.rateLimited += 1;
  return { ...problem(429, "rate_limited"), headers: { "retry-after": "1" } };
}

function answered(business: StubBusiness, request: IncomingMessage, body: string): StubAnswer {
  const url = new URL(request.url ?? "/", "http://stub");
  if (request.method === "POST" && url.pathname === "/v1/payments") {
    return pay(business, String(request.headers["idempotency-key"]), body);
  }
  business.counts.reads += 1;
  const [, , resource, id] = url.pathname.split("/");
  if (resource === "funding-sources") return json(200, FUNDING_SOURCES);
  if (resource === "bank-accounts") return json(200, BANK_ACCOUNTS);
  if (resource === "webhook-endpoints") return json(200, { items: [] });
  if (resource === "payables") {
    if (id !== undefined) return json(200, payableView(business, Number(id.slice(5))));
    return page(url, business.bills, (index) => payableView(business, index));
  }
  if (resource === "contacts") {
    if (id !== undefined) return json(200, contactView(Number(id.slice(7))));
    return page(url, vendorCount(business), contactView);
  }
  if (resource === "payments") {
    const payableId = url.searchParams.get("payableId");
    const all = payableId === null ? business.payments : (business.byPayable.get(payableId) ?? []);
    // Newest first.
    return page(url, all.length, (index) => {
      const payment = all[all.length - 1 - index];
      return payment === undefined ? {} : paymentView(payment, "completed");
    });
  }
  return problem(404, "not_found");
}

function pay(business: StubBusiness, key: string, body: string): StubAnswer {
  const { counts, answers, byPayable, payments } = business;
  if (counts.pays === 0) counts.firstPayMs = Date.now();
  counts.pays += 1;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const wanted = JSON.parse(body) as {
    payableId: string;
    amountCents: number;
    scheduledAt: string;
  };
  const index = Number(wanted.payableId.slice(5));
  const payment: StubPayment = {
    id: `payment-${payments.length + 1}`,
    payableId: wanted.payableId,
    contactId: contactOf(index),
    amountCents: wanted.amountCents,
    scheduledAt: `${wanted.scheduledAt}T09:00:00-05:00`,
    createdAt: new Date().toISOString(),
  };
  const before = byPayable.get(wanted.payableId);
  if (before !== undefined || wanted.amountCents !== amountCents(index)) counts.paidTwice += 1;
  byPayable.set(wanted.payableId, [...(before ?? []), payment]);
  payments.push(payment);
  const view = paymentView(payment, "scheduled");
  const answer = json(201, { payableId: wanted.payableId, payments: [view] });
  answers.set(key, answer);
  return answer;
}

function page(url: URL, count: number, view: (index: number) => object): StubAnswer {
  const number = Number(url.searchParams.get("page") ?? 1);
  const size = Number(url.searchParams.get("pageSize") ?? 25);
  const first = (number - 1) * size;
  const length = Math.max(0, Math.min(size, count - first));
  const items = Array.from({ length }, (_, offset) => view(first + offset));
  return json(200, { items, totalCount: count });
}

function json(status: number, body: object): StubAnswer {
  return { status, text: JSON.stringify(body) };
}

function problem(status: number, error: string): StubAnswer {
  return json(status, { error, message: error.replaceAll("_", " ") });
}

if (values["exit-with-parent"]) process.stdin.resume().once("end", () => process.exit(0));
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});
