import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono } from "hono";
import { z } from "zod";
import {
  authorization,
  authorizeByHand,
  bookChange,
  booksByHand,
  changeBooksByHand,
} from "../accounting/by-hand.ts";
import {
  bankAccountChange,
  changeBankAccountByHand,
  microDepositsByHand,
} from "../bank-accounts/by-hand.ts";
import { reviewJson } from "../businesses/review.ts";
import { ClockError } from "../clock/clock.ts";
import { transaction } from "../db.ts";
import { fixtureNames, fixtureRequest, requestedFixture } from "../fixtures/named.ts";
import { errorAnswer } from "../http/answers.ts";
import { ApiError, invalid, objectNotFound } from "../http/api-error.ts";
import { parseJsonBody, receiveBody } from "../http/body.ts";
import type { ServiceParts } from "../http/pipeline.ts";
import { allScopes } from "../http/tokens.ts";
import { validate } from "../http/validation.ts";
import { businessById } from "../resources/businesses.ts";
import { setWebhookFaults, webhookFaults } from "../webhooks/faults.ts";
import { faultRule } from "./faults.ts";
import { outcomeRule } from "./outcome-rule.ts";
import { setOutcome } from "./set-outcome.ts";
import { businessChange, changeBusinessByHand } from "./businesses-by-hand.ts";
import { changeContactByHand, contactChange } from "./contacts-by-hand.ts";
import {
  changePayableByHand,
  createPayableByHand,
  newPayable,
  outsidePayment,
  payableChange,
  payOutside,
} from "./payables-by-hand.ts";
import {
  changeInvoiceByHand,
  createInvoiceByHand,
  invoiceChange,
  newInvoice,
} from "../invoices/by-hand.ts";
import type { Resetting } from "./reset.ts";

type App = Hono<{ Bindings: HttpBindings }>;

/** Room for a fixture object of a hundred thousand bills. */
const largestFixtureBytes = 64 * 1_048_576;

const resetBody = z
  .strictObject({ fixture: fixtureRequest.default("blank") })
  .default({ fixture: "blank" });

const tokenBody = z.strictObject({
  businessId: z.string(),
  scopes: z.array(z.enum(allScopes)).optional(),
  expiresInSeconds: z.int().max(1_000_000_000).optional(),
});

/** Strict: if an unknown field were ignored, the clock would look as if it had been set. */
const clockBody = z.strictObject({
  set: z.string().optional(),
  advance: z.string().optional(),
  scale: z.number().optional(),
  wire: z.strictObject({ advance: z.string().optional() }).optional(),
});

const faultsBody = z.strictObject({
  rules: z.array(faultRule).optional(),
  webhooks: webhookFaults.optional(),
});

/** A route of the control API, as the OpenAPI document shows it. */
export interface ControlRoute {
  method: "GET" | "POST";
  /** Hono's template, such as `/sandbox/payables/:id`. */
  path: string;
  body?: z.ZodType;
  status: 200 | 201;
}

/**
 * Adds the control API under `/sandbox`. It takes no token, because everyone who can reach it owns
 * the sandbox.
 *
 * @returns the routes that were added.
 */
export function addControlRoutes(
  app: App,
  parts: ServiceParts,
  resetting: Resetting,
): readonly ControlRoute[] {
  const { ctx, engine, tokens, faults } = parts;
  const routes = new Routes(app, parts);

  routes.postAsync("/sandbox/reset", resetBody, async ({ fixture }) => {
    const object = requestedFixture(fixture, Date.now());
    if (object === undefined) {
      throw invalid("fixture", `fixture must be an object or one of ${fixtureNames.join(", ")}`);
    }
    return { businesses: await resetting.reset(object) };
  });

  routes.postAsync("/sandbox/tokens", tokenBody, async (body) => {
    if (businessById(ctx.db, body.businessId) === undefined) throw objectNotFound("Business");
    const scopes = body.scopes ?? allScopes;
    return { token: await tokens.mint(body.businessId, scopes, body.expiresInSeconds) };
  });

  routes.get("/sandbox/clock", () => ctx.clock.read());
  routes.postAsync("/sandbox/clock", clockBody, async (body) => {
    try {
      ctx.clock.change(body);
    } catch (error) {
      if (error instanceof ClockError) throw new ApiError(error.status, error.code, error.message);
      throw error;
    }
    await engine.catchUp();
    return ctx.clock.read();
  });

  routes.post("/sandbox/payables", newPayable, (body) => createPayableByHand(ctx, body), 201);
  routes.post("/sandbox/payables/:id", payableChange, (body, id) =>
    changePayableByHand(ctx, id, body),
  );
  routes.post("/sandbox/contacts/:id", contactChange, (body, id) =>
    changeContactByHand(ctx, id, body),
  );
  routes.get("/sandbox/businesses/:id", (id) => reviewJson(ctx, id));
  routes.post("/sandbox/businesses/:id", businessChange, (body, id) =>
    changeBusinessByHand(ctx, id, body),
  );
  routes.post("/sandbox/bank-accounts/:id", bankAccountChange, (body, id) =>
    changeBankAccountByHand(ctx, id, body),
  );
  routes.post("/sandbox/accounting/:id/authorize", authorization, (body, id) =>
    authorizeByHand(ctx, id, body),
  );
  routes.get("/sandbox/accounting/:id", (id) => booksByHand(ctx, id));
  routes.post("/sandbox/accounting/:id/records", bookChange, (body, id) =>
    changeBooksByHand(ctx, id, body),
  );
  routes.post("/sandbox/invoices", newInvoice, (body) => createInvoiceByHand(ctx, body), 201);
  routes.post("/sandbox/invoices/:id", invoiceChange, (body, id) =>
    changeInvoiceByHand(ctx, id, body),
  );
  routes.get("/sandbox/micro-deposits/:id", (id) => microDepositsByHand(ctx, id));
  routes.post("/sandbox/payments", outsidePayment, (body) => payOutside(ctx, body), 201);
  routes.post("/sandbox/outcomes", outcomeRule, (body) => setOutcome(ctx, body), 201);

  routes.post("/sandbox/faults", faultsBody, (body) => {
    faults.replace(body.rules ?? []);
    setWebhookFaults(ctx.db, body.webhooks);
    return { rules: body.rules ?? [], webhooks: body.webhooks ?? {} };
  });

  addReads(routes, parts);
  return routes.added;
}

/** Adds the routes with which tests and proofs read the bank and the service. */
function addReads(routes: Routes, { ctx, log }: ServiceParts): void {
  routes.get("/sandbox/ledger", async () => ({ items: await ctx.bank.ledger() }));
  routes.get("/sandbox/requests", () => ({ items: log.list() }));
  routes.get("/sandbox/health", async () => {
    const bank = await ctx.bank.comparedHealth();
    return { ok: bank.ok, bank };
  });
}

class Routes {
  readonly added: ControlRoute[] = [];
  readonly #app: App;
  readonly #parts: ServiceParts;

  constructor(app: App, parts: ServiceParts) {
    this.#app = app;
    this.#parts = parts;
  }

  get(path: string, act: (id: string) => object | Promise<object>): void {
    this.added.push({ method: "GET", path, status: 200 });
    this.#app.get(path, (c) =>
      this.#answer(c, 200, () => {
        this.#parts.engine.takeDueNow();
        return act(c.req.param("id") ?? "");
      }),
    );
  }

  /** Adds a change that runs in one transaction. */
  post<Body>(
    path: string,
    schema: z.ZodType<Body>,
    act: (body: Body, id: string) => object,
    status: 200 | 201 = 200,
  ): void {
    const { ctx } = this.#parts;
    this.postAsync(
      path,
      schema,
      (body, id) => Promise.resolve(transaction(ctx.db, () => act(body, id))),
      status,
    );
  }

  /** Adds a change that is asynchronous and handles its own transactions. */
  postAsync<Body>(
    path: string,
    schema: z.ZodType<Body>,
    act: (body: Body, id: string) => Promise<object>,
    status: 200 | 201 = 200,
  ): void {
    this.added.push({ method: "POST", path, body: schema, status });
    this.#app.post(path, (c) =>
      this.#answer(c, status, async () => {
        const raw = await receiveBody(c.env.incoming, largestFixtureBytes);
        const body =
          raw.length === 0 ? undefined : parseJsonBody(raw, c.req.header("content-type"));
        const valid = validate(schema, body);
        this.#parts.engine.takeDueNow();
        const result = await act(valid, c.req.param("id") ?? "");
        this.#parts.engine.wake();
        return result;
      }),
    );
  }

  async #answer(
    c: Context,
    status: 200 | 201,
    act: () => object | Promise<object>,
  ): Promise<Response> {
    try {
      return c.json(await act(), status);
    } catch (error) {
      const answer = errorAnswer(error);
      return new Response(answer.body, {
        status: answer.status,
        headers: { "content-type": "application/json" },
      });
    }
  }
}
