import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Clients } from "../../src/business/clients.ts";
import type { BusinessProfile, NotifySettings } from "../../src/config/business-profile.ts";
import { startNoticeSender } from "../../src/notices/sender.ts";
import type { Repeated } from "../../src/process/repeat.ts";
import type { NewNotice } from "../../src/domain/facts/fact.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";

export interface Desk {
  readonly store: Store;
  readonly databaseUrl: string;
  readonly profile: BusinessProfile;
  readonly logged: string[];
  /** Moves the senders' clock forward, so that no test waits for a pause. */
  readonly advance: (ms: number) => void;
  readonly start: () => Repeated;
}

/**
 * Opens a store with a business that has these channels; a test starts as many senders as it needs.
 */
export async function desk(
  notify: NotifySettings | undefined,
  changes: Partial<BusinessProfile> = {},
): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), "payrun-notices-"));
  const databaseUrl = `sqlite:${join(folder, "payrun.db")}`;
  const store = await openStore(databaseUrl);
  const clients = new Clients({ connections: 2, timeoutMs: 30_000 });
  const profile: BusinessProfile = {
    name: "acme",
    apiUrl: "http://127.0.0.1:1",
    businessId: "biz_1",
    token: { kind: "value", value: "api-token" },
    webhookSecrets: [],
    sandbox: false,
    ...(notify === undefined ? {} : { notify }),
    ...changes,
  };
  const senders: Repeated[] = [];
  const logged: string[] = [];
  let ahead = 0;
  onTestFinished(async () => {
    await Promise.all(senders.map((sender) => sender.stop()));
    await clients.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    store,
    databaseUrl,
    profile,
    logged,
    advance: (ms) => void (ahead += ms),
    start() {
      const sender = startNoticeSender({
        publicUrl: () => "https://payrun.example",
        store,
        profiles: { byBusinessId: (id) => (id === profile.businessId ? profile : undefined) },
        clientOf: (each) => clients.of(each),
        log: { warn: (message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`) },
        nowMs: () => Date.now() + ahead,
        noticesEveryMs: 50,
      });
      senders.push(sender);
      return sender;
    },
  };
}

export function notice(changes: Partial<NewNotice> = {}): NewNotice {
  return {
    businessId: "biz_1",
    kind: "approval-needed",
    factKey: "run_1/hash_1",
    subject: "3 bills wait for approval",
    text: "weekly, period 2026-11-05: $1,200.00.\nDecide by Thursday.",
    roles: ["controller"],
    data: { planHash: "hash_1" },
    nowMs: Date.now(),
    ...changes,
  };
}
