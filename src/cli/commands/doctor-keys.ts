import type { Config } from "../../config.ts";
import { counted } from "../../domain/counted.ts";
import { vaultCountsByKey } from "../../store/onboarding/vault.ts";
import type { Check } from "./doctor-businesses.ts";
import { withStore } from "./with-store.ts";

const TIMEOUT_MS = 5_000;

/** With real money, Temporal should keep nothing readable. */
export function encryptionCheck({ encryptionKeys, profiles }: Config): readonly Check[] {
  if (profiles.sandboxesOnly()) return [];
  const name = "Encryption";
  const [newest] = encryptionKeys;
  if (newest !== undefined) {
    const text = `what Temporal keeps of runs is encrypted under the key ${newest.id}`;
    return [{ name, state: "ok", text }];
  }
  return [
    {
      name,
      state: "warning",
      text: "these settings have no key: Temporal keeps what is started with them in plain text, with bills, vendors and amounts",
      remedy: "Set PAYRUN_ENCRYPTION_KEYS to the same keys for each worker and gateway.",
    },
  ];
}

/** Shows which keys encrypt the vault's values, so that an unused key can be removed. */
export async function vaultCheck(config: Config): Promise<readonly Check[]> {
  const counting = withStore(config, ({ db }) => vaultCountsByKey(db), TIMEOUT_MS);
  const counts = await counting.catch(() => []);
  if (counts.length === 0) return [];
  const known = new Set(config.encryptionKeys.map(({ id }) => id));
  const under = counts.map(({ keyId, count }) => `${counted(count, "value")} under ${keyId}`);
  const check = { name: "Vault", text: under.join(", ") };
  const lacking = counts.filter(({ keyId }) => !known.has(keyId)).map(({ keyId }) => keyId);
  if (lacking.length === 0) return [{ ...check, state: "ok" }];
  const text = `${check.text}; there is no key ${lacking.join(", ")}`;
  const remedy =
    "Put it back behind the others in PAYRUN_ENCRYPTION_KEYS, of workers and gateways.";
  return [{ ...check, text, state: "failed", remedy }];
}
