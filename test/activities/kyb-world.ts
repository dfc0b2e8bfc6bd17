import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import type { ActivityContext } from "../../activities/shared/context.ts";
import { reviewOnboarding } from "../../activities/onboarding/review-onboarding.ts";
import { sendOnboardingStep } from "../../activities/onboarding/send-onboarding-step.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { OnboardingAssessment, ProvidedStep } from "../../src/contracts/onboarding.ts";
import type { KybOnboardingPlaybook } from "../../src/contracts/playbook.ts";
import { PaymentsClient } from "../../src/payments-api/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import {
  insertInput,
  listAllInputs,
  type OnboardingInput,
} from "../../src/store/onboarding/onboarding-inputs.ts";
import type { InputFacts } from "../../src/store/schema/onboardings.ts";
import {
  getOnboarding,
  type Onboarding,
  recordOnboarding,
} from "../../src/store/onboarding/onboardings.ts";
import { Keyring } from "../../src/vault/keyring.ts";
import { Vault } from "../../src/vault/vault.ts";
import { KybService, type KybServiceOptions } from "../support/kyb-service.ts";
import { DATA, KYB_POLICY } from "../support/onboarding.ts";
import { ClockReading } from "../../src/business/clock.ts";

const DAY_MS = 86_400_000;

const POLICY: KybOnboardingPlaybook = { ...KYB_POLICY, expireAfterDays: 10 };

export const OLD_KEY = { id: "old", key: Buffer.alloc(32, 1) };

/**
 * Onboardings against a fake service of their own, without the workflow that calls the activities.
 */
export class KybWorld {
  readonly service: KybService;
  readonly store: Store;
  /** The worker's keys. */
  keys = [OLD_KEY];
  readonly #folder: string;
  #client: PaymentsClient | undefined;
  #days = 0;

  private constructor(service: KybService, store: Store, folder: string) {
    this.service = service;
    this.store = store;
    this.#folder = folder;
  }

  static async start(options: KybServiceOptions): Promise<KybWorld> {
    const service = new KybService(options);
    await service.start();
    const folder = mkdtempSync(join(tmpdir(), "payrun-kyb-"));
    return new KybWorld(service, await openStore(`sqlite:${join(folder, "payrun.db")}`), folder);
  }

  async stop(): Promise<void> {
    await this.#client?.close();
    await this.store.close();
    await this.service.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Advances days, for people and for the service. */
  pass(days: number): void {
    this.#days += days;
  }

  async launch(policy: Partial<KybOnboardingPlaybook> = {}): Promise<void> {
    await this.store.transaction((trx) =>
      recordOnboarding(trx, {
        businessId: this.service.businessId,
        business: "acme",
        workflowId: "kyb-onboarding/acme",
        playbook: "kyb",
        playbookRevision: 1,
        policy: { ...POLICY, ...policy },
        launchedBy: "lena",
        launchedByTokenId: null,
        nowMs: Date.now(),
      }),
    );
  }

  async give(step: ProvidedStep, value: unknown, facts: InputFacts = {}): Promise<void> {
    const { businessId } = this.service;
    const vault = new Vault(new Keyring([OLD_KEY]));
    const of = { businessId, kind: `onboarding-${step}`, nowMs: Date.now() };
    const { round } = await this.onboarding();
    await this.store.transaction(async (trx) => {
      const vaultRef = value === null ? null : await vault.put(trx, of, value);
      const input = { businessId, round, step, facts, vaultRef, providedBy: "olga" };
      await insertInput(trx, { ...input, nowMs: Date.now() });
    });
  }

  /** Provides everything that the four steps need. */
  async giveAll(): Promise<void> {
    await this.give("tax", DATA.tax);
    await this.sign();
    for (const officer of DATA.officers.officers) await this.give("officers", officer);
    await this.certify();
  }

  sign(): Promise<void> {
    const { signerName: name, signedAt: at } = DATA.signature;
    return this.give("signature", null, { name, at });
  }

  certify(): Promise<void> {
    const { certifierName: name, certifiedAt: at } = DATA.certification;
    return this.give("certification", null, { name, at });
  }

  /** Looks and sends as the workflow does, until the onboarding waits. */
  async untilWaits(): Promise<OnboardingAssessment> {
    for (let turn = 0; turn < 30; turn += 1) {
      const now = await this.look();
      if (now.ended || now.send === null) return now;
      const { againInMs } = await this.take(now.send.inputId);
      if (againInMs > 0) return this.look();
    }
    throw new Error("it never waits");
  }

  take(inputId: string): Promise<{ readonly againInMs: number }> {
    return sendOnboardingStep(this.#context(), { business: "acme", inputId });
  }

  look(): Promise<OnboardingAssessment> {
    return reviewOnboarding(this.#context(), { business: "acme" });
  }

  async onboarding(): Promise<Onboarding> {
    const onboarding = await getOnboarding(this.store.db, this.service.businessId);
    if (onboarding === undefined) throw new Error("none was launched");
    return onboarding;
  }

  /** Returns each input's step and state in order, such as `tax done` or `officers refused`. */
  async states(): Promise<string[]> {
    return (await this.inputs()).map(({ step, state }) => `${step} ${state}`);
  }

  inputs(): Promise<OnboardingInput[]> {
    return listAllInputs(this.store.db, this.service.businessId);
  }

  /** Returns the subjects of the notices of a kind. */
  async told(kind: string): Promise<string[]> {
    const { businessId } = this.service;
    const notices = await listNotices(this.store.db, { businessId, kind, limit: 50 });
    return notices.map(({ text }) => text);
  }

  async kept(): Promise<number> {
    return (await this.store.db.selectFrom("vault").select("vault_ref").execute()).length;
  }

  #context(): ActivityContext {
    const { businessId, url } = this.service;
    this.#client ??= new PaymentsClient({ baseUrl: url, token: { value: "kyb.test.token" } });
    const client = this.#client;
    const profile: BusinessProfile = {
      name: "acme",
      apiUrl: url,
      businessId,
      token: { kind: "value", value: "kyb.test.token" },
      webhookSecrets: [],
      sandbox: false,
    };
    const now = () => {
      const atMs = Date.now() + this.#days * DAY_MS;
      return Promise.resolve(new ClockReading({ businessMs: atMs, serviceHeard: true }));
    };
    return {
      store: this.store,
      get temporal(): Client {
        throw new Error("these activities need no Temporal");
      },
      log: { info: () => {}, warn: () => {} },
      vault: new Vault(new Keyring(this.keys)),
      workerId: "test",
      profileOf: () => profile,
      clientOf: () => client,
      clockOf: () => ({
        now,
        readAnew: now,
        observeServiceDate: () => {},
        hasMoved: () => Promise.resolve(false),
      }),
      draining: new AbortController().signal,
      countDecision: () => {},
    };
  }
}
