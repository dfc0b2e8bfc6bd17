import type { ConnectionLike } from "@temporalio/client";
import { SEARCH_ATTRIBUTES } from "../contracts/search-attributes.ts";

/** Numbers of `temporal.api.enums.v1.IndexedValueType`. */
const INDEXED_VALUE_TYPE = { KEYWORD: 2, INT: 3, BOOL: 5, DATETIME: 6 } as const;

/** Tries after which a registration must be visible that another process makes at the same time. */
const TRIES = 20;

/**
 * Registers the search attributes that workflows write, if the namespace lacks them: a workflow
 * that writes an unknown one stands still.
 *
 * Safe if several processes do it at once.
 *
 * @returns the names that were registered now
 * @throws if the server refuses, for example for lack of permission
 */
export async function registerSearchAttributes(
  connection: ConnectionLike,
  namespace: string,
): Promise<string[]> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return [];
  const searchAttributes = Object.fromEntries(
    missing.map((name) => [name, INDEXED_VALUE_TYPE[SEARCH_ATTRIBUTES[name]]]),
  );
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    // Another process may have been faster.
    if ((await missingAttributes(connection, namespace)).length > 0) throw error;
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    if ((await missingAttributes(connection, namespace)).length === 0) return missing;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return missing;
}

type Name = keyof typeof SEARCH_ATTRIBUTES;

async function missingAttributes(connection: ConnectionLike, namespace: string): Promise<Name[]> {
  const known = await connection.operatorService.listSearchAttributes({ namespace });
  const custom = known.customAttributes ?? {};
  return (Object.keys(SEARCH_ATTRIBUTES) as Name[]).filter((name) => !(name in custom));
}
