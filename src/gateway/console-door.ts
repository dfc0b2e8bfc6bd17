import type { Context } from "hono";
import type { GatewayError } from "../actions/errors.ts";
import { errorBody } from "./http/refusals.ts";
import { Refused } from "../console/refused.ts";
import type { ApiAnswer, ApiRequest, Door, Visitor } from "../console/visitor.ts";
import { isFormKept } from "../domain/approvals/session.ts";
import { findSession, keepForm } from "../store/approvals/sessions.ts";
import { zoneOf } from "../reports/moment.ts";
import type { GatewayContext } from "./http/context.ts";
import { readBody, SMALL_BODY_BYTES } from "./http/limits.ts";
import { addressOf } from "./http/request.ts";
import type { Routes } from "./http/route.ts";
import { scopedTo } from "./http/scope.ts";
import { MAY } from "./routes/fields.ts";
import { holdersOf } from "./routes/held-thing.ts";
import {
  callerOfSession,
  FORM_TOKEN_FIELD,
  formTokenOf,
  requireOwnForm,
  type SignedInCaller,
} from "./http/sessions.ts";
import { hasRole } from "../domain/approvals/token.ts";

/**
 * Returns the console's way into the gateway. It takes sessions instead of tokens, and then calls
 * the operations of the API, which make their usual checks.
 *
 * @param failed turns what was thrown into the error to answer with; logs it if it is unexpected
 */
export function consoleDoor(
  context: GatewayContext,
  routes: Routes,
  failed: (c: Context, error: unknown) => GatewayError,
): Door {
  const callers = new WeakMap<Visitor, SignedInCaller>();
  return {
    async visitorOf(c) {
      const caller = await callerOfSession(c, context);
      if (caller === undefined) return undefined;
      const { name, roles } = caller.principal;
      const scoped = scopedTo(context, caller);
      const visitor: Visitor = {
        name,
        roles,
        businesses: scoped.profiles.all().map((profile) => profile.name),
        mayOperate: hasRole(caller.principal, MAY.operate),
        mayHold: async (business) => {
          const profile = scoped.profiles.get(business);
          return (
            profile !== undefined && hasRole(caller.principal, await holdersOf(scoped, profile))
          );
        },
        zoneOf: (business) => zoneOf(context, business),
        formToken: { field: FORM_TOKEN_FIELD, value: formTokenOf(caller) },
        keptForm: async (path) => {
          const session = await findSession(context.store.db, caller.shown.secret);
          const kept = session?.keptForm ?? undefined;
          if (kept?.path !== path || !isFormKept(kept, context.nowMs())) return undefined;
          return new URLSearchParams(
            kept.fields.map(([name, value]): [string, string] => [name, value]),
          );
        },
        keepForm: async (path, form) => {
          const fields = [...form].filter(([name]) => name !== FORM_TOKEN_FIELD);
          const kept = { path, fields, atMs: context.nowMs() };
          await keepForm(context.store.db, caller.principal.sessionId, kept);
        },
        perform: async (request) => {
          try {
            return await performed(routes, caller, request, addressOf(c, context));
          } catch (error) {
            const known = failed(c, error);
            return { status: known.status, json: errorBody(known) };
          }
        },
      };
      callers.set(visitor, caller);
      return visitor;
    },
    async readForm(c, visitor) {
      const text = new TextDecoder().decode(await readBody(c, SMALL_BODY_BYTES));
      const form = new URLSearchParams(text);
      const caller = callers.get(visitor);
      if (caller === undefined) throw new Refused(401, "signed_out", "Sign in again.");
      requireOwnForm(c, context, { caller, formToken: form.get(FORM_TOKEN_FIELD) });
      return form;
    },
    refusalOf(c, error) {
      if (error instanceof Refused) return error;
      const { status, code, message } = failed(c, error);
      return new Refused(status, code, message);
    },
  };
}

async function performed(
  routes: Routes,
  caller: SignedInCaller,
  { method, path, params = {}, query = {}, body }: ApiRequest,
  from: string,
): Promise<ApiAnswer> {
  const readJson = () => Promise.resolve(body);
  const request = { params, query, readBody: readJson, from };
  const answer = await routes.perform({ method, path }, caller, request);
  if ("json" in answer) return { status: answer.status, json: answer.json };
  const { status, contentType } = answer;
  const stream = "stream" in answer ? answer.stream : once(answer.text);
  return { status, stream, contentType };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
