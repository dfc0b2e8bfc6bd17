import { loadPlaybook } from "../../src/playbooks/load.ts";
import { jsonHash } from "../../src/store/audit/audit-said.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import type { Store } from "../../src/store/index.ts";
import { textHash } from "../../src/store/playbooks/playbook-proposals.ts";
import { applyPlaybook } from "../../src/store/playbooks/playbooks.ts";

/**
 * Stores a playbook as `payrun apply` does, without a gateway: by ada, for acme unless the playbook
 * names a business.
 */
export async function storePlaybook(
  store: Store,
  playbook: { readonly name: string; readonly text: string },
  nowMs = Date.now(),
  businessId = "biz_acme",
): Promise<void> {
  const { name, text } = playbook;
  const loaded = loadPlaybook(text, { file: `${name}.yaml` });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("; "));
  const { kind, business: named } = loaded.playbook;
  const business = named ?? "acme";
  const compiled = { ...loaded.playbook, business };
  const author = { author: "ada", authorTokenId: null };
  await store.transaction(async (trx) => {
    const { revision } = await applyPlaybook(trx, {
      ...{ name, kind, text, compiled, business, ...author, nowMs },
    });
    await appendAudit(trx, {
      ...{ businessId, nowMs, actor: author.author, action: "playbook.applied", subject: name },
      details: { revision, hash: textHash(text), compiled: jsonHash(compiled) },
    });
  });
}
