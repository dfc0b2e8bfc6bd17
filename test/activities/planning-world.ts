import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { test as base } from "vitest";
import type { ActivityContext } from "../../activities/shared/context.ts";
import { Clocks } from "../../src/business/clocks.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { PaymentsClient } from "../../src/payments-api/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { recordLaunch } from "../../src/store/runs/runs.ts";
import { Keyring } from "../../src/vault/keyring.ts";
import { Vault } from "../../src/vault/vault.ts";
import { type Json, startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { payRunPlaybook } from "../support/pay-run-playbook.ts";

const DAY_MS = 86_400_000;

/** The policy of these tests: one person approves everything, and nothing is reviewed. */
export const POLICY = payRunPlaybook({
  select: { due: "before-next-run" },
  review: ["changed-bank-account"],
  approve: [{ review: false, overCents: null, where: null, by: ["owner"], quorum: 1 }],
});

/** Returns the date some days from now in the format of due dates. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

export const PERIOD = inDays(0);

/** A sandbox with two vendors that can be paid and one that can't, and a store. */
export class PlanningWorld {
  readonly sandbox: TestSandbox;
  readonly store: Store;
  readonly folder: string;
  readonly #database: { aheadMs: number };
  #client: PaymentsClient | undefined;
  /** Where the service is reached: the sandbox itself, or what stands in front of it. */
  apiUrl: string;

  private constructor(
    sandbox: TestSandbox,
    store: Store,
    folder: string,
    database: { aheadMs: number },
  ) {
    this.sandbox = sandbox;
    this.apiUrl = sandbox.url;
    this.store = store;
    this.folder = folder;
    this.#database = database;
  }

  static async start(): Promise<PlanningWorld> {
    const sandbox = await startSandbox();
    const folder = mkdtempSync(join(tmpdir(), "payrun-plan-"));
    const database = { aheadMs: 0 };
    const nowMs = (): number => Date.now() + database.aheadMs;
    const store = await openStore(`sqlite:${join(folder, "payrun.db")}`, { nowMs });
    const world = new PlanningWorld(sandbox, store, folder, database);
    await world.reset();
    return world;
  }

  /** Advances the service's clock and the store's database clock. */
  async pass(ms: number): Promise<void> {
    this.#database.aheadMs += ms;
    await this.sandbox.control.advanceWire(`PT${Math.ceil(ms / 1_000)}S`);
  }

  /** Resets the service's data; the store stays as it is. */
  async reset(business: Json = {}): Promise<void> {
    await this.#client?.close();
    this.#client = undefined;
    await this.sandbox.control.reset({
      businesses: [
        {
          name: "Company",
          balanceCents: 100_000_000,
          bankAccounts: [{ id: "bank_main", isDefault: true }],
          contacts: [
            { id: "v1", displayName: "One", bankAccount: { last4: "1111" } },
            { id: "v2", displayName: "Two", bankAccount: { last4: "2222" } },
            { id: "v3", displayName: "Three", bankAccount: null },
          ],
          ...business,
        },
      ],
    });
    // The service's own token would expire while a test advances hours.
    const { business: ours } = this.sandbox;
    ours.token = await this.sandbox.control.token(ours.businessId, { expiresInSeconds: 86_400 });
  }

  async stop(): Promise<void> {
    await this.#client?.close();
    await this.store.close();
    await this.sandbox.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get profile(): BusinessProfile {
    const { businessId, token } = this.sandbox.business;
    return {
      name: "acme",
      apiUrl: this.apiUrl,
      businessId,
      token: { kind: "value", value: token },
      webhookSecrets: [],
      sandbox: true,
    };
  }

  /** The context that planning needs; it never talks to Temporal. */
  context(profile: BusinessProfile = this.profile): ActivityContext {
    const clocks = new Clocks();
    this.#client ??= new PaymentsClient({
      baseUrl: this.apiUrl,
      token: { value: this.sandbox.business.token },
    });
    const client = this.#client;
    return {
      store: this.store,
      get temporal(): Client {
        throw new Error("planning needs no Temporal");
      },
      log: { info: () => {}, warn: () => {} },
      vault: new Vault(new Keyring([])),
      workerId: "test",
      profileOf: () => profile,
      clientOf: () => client,
      clockOf: () => clocks.of(profile),
      draining: new AbortController().signal,
      countDecision: () => {},
    };
  }

  /** Launches a run, which then waits to be planned. */
  async launch(
    playbook: string,
    policy: PayRunPlaybook = POLICY,
    inputs: Readonly<Record<string, unknown>> = {},
  ): Promise<string> {
    const { runId } = await this.store.transaction((trx) =>
      recordLaunch(trx, {
        businessId: this.sandbox.business.businessId,
        business: "acme",
        playbook,
        playbookRevision: 1,
        policy: { ...policy, name: playbook },
        period: PERIOD,
        inputs,
        launchedBy: "lena",
        launchedByTokenId: null,
        nowMs: Date.now(),
      }),
    );
    return runId;
  }
}

/** Each test has a world of its own. */
export const test = base.extend("planning", async ({ onTestFinished }) => {
  const planning = await PlanningWorld.start();
  onTestFinished(() => planning.stop());
  return planning;
});
