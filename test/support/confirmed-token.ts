import type { Store } from "../../src/store/index.ts";
import { STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { confirmToken, createToken, type NewToken } from "../../src/store/approvals/tokens.ts";

/**
 * Creates a token that a second person has confirmed, as the tokens of real businesses have to be.
 */
export async function confirmedToken(
  store: Store,
  token: NewToken,
): Promise<{ tokenId: string; token: string }> {
  const made = await createToken(store, token);
  const deed = { by: "second", nowMs: token.nowMs };
  await store.transactionOf(STORE_TRAIL, (trx) =>
    confirmToken(trx, { tokenId: made.tokenId, name: token.name }, deed),
  );
  return made;
}
