import type { AsyncLocalStorage } from "node:async_hooks";
import type { Kysely, KyselyPlugin } from "kysely";
import { withTrail } from "../audit/audit.ts";
import type { Tables } from "../schema/tables.ts";
import type { RunTransaction, Store, PendingSignal, TransactionOptions } from "../sql/store.ts";
import { withPendingSignals } from "../signals/pending-signals.ts";
import { concernedBy } from "./concerned.ts";

/** The options of a transaction, and whether it is still under way. */
export interface Scope extends TransactionOptions {
  open: boolean;
}

/**
 * Makes it an error to use the store inside its own transaction.
 *
 * Such a statement would wait for the transaction (SQLite has one connection; a pool may have none
 * left), and the transaction for the statement, forever.
 */
export function guarded(
  base: Kysely<Tables>,
  transaction: RunTransaction,
  {
    scopes,
    tryToWrite,
  }: { readonly scopes: AsyncLocalStorage<Scope>; readonly tryToWrite: () => Promise<void> },
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
    let pendingSignals: readonly PendingSignal[] = [];
    const noted = (last: readonly PendingSignal[]): void => void (pendingSignals = last);
    try {
      const result = await scopes.run(scope, () =>
        transaction(
          (trx) => withPendingSignals(trx, () => withTrail(trx, fn), concernedBy, noted),
          options,
        ),
      );
      if (pendingSignals.length > 0) listener?.(pendingSignals);
      return result;
    } finally {
      scope.open = false;
    }
  };
  let listener: ((pendingSignals: readonly PendingSignal[]) => void) | undefined;
  return {
    db: base.withPlugin(guard),
    transaction: (fn, options = {}) => run(fn, options),
    transactionOf: (businessId, fn, options = {}) => run(fn, { ...options, businessId }),
    afterCommit: (given) => {
      listener = given;
      return () => {
        if (listener === given) listener = undefined;
      };
    },
    tryToWrite: async () => {
      refuse();
      await tryToWrite();
    },
    close: () => base.destroy(),
  };
}
