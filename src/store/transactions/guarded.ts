import type { AsyncLocalStorage } from "node:async_hooks";
import type { Kysely, KyselyPlugin } from "kysely";
import { withTrail } from "../audit/audit.ts";
import type { Tables } from "../schema/tables.ts";
import type { RunTransaction, Store, Telling, TransactionOptions } from "../sql/store.ts";
import { withTellings } from "../tellings/tellings.ts";
import { concernedBy } from "./concerned.ts";

/** What a transaction that is under way was asked for. */
export interface Scope extends TransactionOptions {
  open: boolean;
}

/**
 * Makes using the store inside its own transaction an error.
 *
 * Such a statement would wait for the transaction (SQLite has one connection, a pool may have none
 * left), and the transaction for it, for ever.
 */
export function guarded(
  base: Kysely<Tables>,
  transaction: RunTransaction,
  scopes: AsyncLocalStorage<Scope>,
): Store {
  const refuse = () => {
    if (scopes.getStore()?.open === true) {
      throw new Error("Inside a transaction of the store: use its `trx`, not the store.");
    }
  };
  const guard: KyselyPlugin = {
    transformQuery: ({ node }) => {
      refuse();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const run: RunTransaction = async (fn, options) => {
    refuse();
    const scope: Scope = { ...options, open: true };
    let tellings: readonly Telling[] = [];
    const noted = (last: readonly Telling[]): void => void (tellings = last);
    try {
      const result = await scopes.run(scope, () =>
        transaction(
          (trx) => withTellings(trx, () => withTrail(trx, fn), concernedBy, noted),
          options,
        ),
      );
      if (tellings.length > 0) tell?.(tellings);
      return result;
    } finally {
      scope.open = false;
    }
  };
  let tell: ((tellings: readonly Telling[]) => void) | undefined;
  return {
    db: base.withPlugin(guard),
    transaction: (fn, options = {}) => run(fn, options),
    transactionOf: (businessId, fn, options = {}) => run(fn, { ...options, businessId }),
    afterCommit: (listener) => {
      tell = listener;
      return () => {
        if (tell === listener) tell = undefined;
      };
    },
    close: () => base.destroy(),
  };
}
