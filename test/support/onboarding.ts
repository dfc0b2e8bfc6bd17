import type { KybOnboardingPlaybook } from "../../src/contracts/playbook.ts";
import type { OnboardingPhase } from "../../src/contracts/onboarding.ts";
import type { OnboardingStatus } from "../../src/api/onboardings.ts";
import type { Person } from "./gateway-calls.ts";
import type { TestPayrun } from "./payrun.ts";
import type { Json } from "./sandbox.ts";
import { until } from "./waits.ts";

export const ONBOARDING_ID = "kyb-onboarding/default";

/** Values that must never be found outside the vault and the service. */
export const PLANTED = {
  ein: "98-7654321",
  ssn: "321-54-9876",
  otherSsn: "456-78-9123",
  dateOfBirth: "1979-02-28",
  otherDateOfBirth: "1983-11-17",
  street: "12 Planted Harbor Street",
  letter: "%PDF-1.7 the planted EIN letter",
  accountNumber: "000987123654",
} as const;

const address = {
  street: PLANTED.street,
  city: "Portland",
  state: "ME",
  zip: "04101",
  country: "US",
};

export const ADA = {
  firstName: "Ada",
  lastName: "Okafor",
  title: "Chief Executive",
  dateOfBirth: PLANTED.dateOfBirth,
  ssn: PLANTED.ssn,
  address,
};

export const BEN = {
  ...ADA,
  firstName: "Ben",
  lastName: "Oduya",
  title: "Owner",
  dateOfBirth: PLANTED.otherDateOfBirth,
  ssn: PLANTED.otherSsn,
};

/** A compiled playbook of onboardings. */
export const KYB_POLICY: KybOnboardingPlaybook = {
  kind: "kyb-onboarding",
  name: "kyb",
  business: null,
  schedule: null,
  by: ["owner"],
  remindEveryDays: 3,
  remind: ["owner"],
  expireAfterDays: 30,
  bankAccount: "none",
  propose: null,
};

/** The data that is provided for each step. */
export const DATA = {
  tax: { ein: PLANTED.ein },
  signature: { signerName: "Ada Okafor", signedAt: "2026-01-15T09:30:00-05:00" },
  officers: { officers: [ADA, BEN] },
  certification: { certifierName: "Ada Okafor", certifiedAt: "2026-01-15T14:40:00Z" },
  documents: { documentType: "einLetter", file: Buffer.from(PLANTED.letter).toString("base64") },
} as const;

/** Stores a playbook and launches the onboarding of the stack's business. */
export async function onboard(payrun: TestPayrun, lines: readonly string[] = []): Promise<void> {
  await payrun.apply("kyb", ["kind: kyb-onboarding", ...lines, ""].join("\n"));
  await payrun.launch("kyb");
}

export function provide(
  payrun: TestPayrun,
  step: string,
  body: unknown,
  person: Person = "owner",
): Promise<{ status: number; body: Json }> {
  return payrun.call(person, "POST", `/v1/onboardings/default/${step}`, body);
}

export async function onboardingOf(payrun: TestPayrun): Promise<OnboardingStatus> {
  const path = `/v1/runs/${encodeURIComponent(ONBOARDING_ID)}`;
  const { status, body } = await payrun.call<OnboardingStatus>("launcher", "GET", path);
  if (status !== 200) throw new Error(`status: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Waits until the onboarding is as described; fails with the last state that it saw. */
export async function untilOnboarding(
  payrun: TestPayrun,
  what: string,
  condition: (status: OnboardingStatus) => boolean,
): Promise<OnboardingStatus> {
  const failure = async ({ phase, waitingFor, provided }: OnboardingStatus): Promise<string> => {
    const seen = JSON.stringify({ phase, waitingFor, provided }, null, 1);
    return `not ${what} in time: ${seen}\n${await payrun.logs()}`;
  };
  return until(() => onboardingOf(payrun), condition, { intervalMs: 150, failure });
}

/** Waits until the onboarding waits for something in a phase. */
export function untilWaitsIn(
  payrun: TestPayrun,
  phase: OnboardingPhase,
): Promise<OnboardingStatus> {
  return untilOnboarding(
    payrun,
    `waiting in ${phase}`,
    (status) => status.phase === phase && status.waitingFor?.startsWith("Sends ") === false,
  );
}

/** Provides a step's data once the onboarding waits for it. */
export async function giveInTurn(
  payrun: TestPayrun,
  step: keyof typeof DATA,
  data: unknown = DATA[step],
): Promise<void> {
  await untilWaitsIn(payrun, step);
  const { status, body } = await provide(payrun, step, data);
  if (status !== 202) throw new Error(`provide ${step}: ${status} ${JSON.stringify(body)}`);
}

/** Returns the writes that the service has accepted, as method and path below the business. */
export async function kybWrites(payrun: TestPayrun): Promise<string[]> {
  const requests = await payrun.sandbox.control.requests();
  return requests
    .filter(({ method, path }) => method !== "GET" && path.startsWith("/api/businesses/"))
    .filter(({ status }) => status !== null && status < 300)
    .map(({ method, path }) => `${method} ${path.replace(/^\/api\/businesses\/[^/]+/, "")}`);
}

/** Returns what a reviewer sees at the service. */
export async function reviewed(payrun: TestPayrun): Promise<{
  readonly verification: { readonly status: string; readonly steps: Record<string, string> };
  readonly officers: readonly { readonly lastName: string; readonly ssnLast4: string }[];
  readonly documents: readonly unknown[];
}> {
  const { url, business } = payrun.sandbox;
  const answer = await fetch(`${url}/sandbox/businesses/${business.businessId}`);
  return (await answer.json()) as Awaited<ReturnType<typeof reviewed>>;
}
