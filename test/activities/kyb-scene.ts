import { afterEach } from "vitest";
import type { KybService, KybServiceOptions } from "../support/kyb-service.ts";
import { KybWorld } from "./kyb-world.ts";

const PLAIN = (isThere: boolean): string => (isThere ? "submitted" : "missing");

/** Returns a function that begins an onboarding with its own service, which ends with the test. */
export function onboardings(): (
  word?: ((isThere: boolean) => string) | null,
  choices?: Omit<KybServiceOptions, "word">,
) => Promise<KybWorld> {
  const begun: KybWorld[] = [];
  afterEach(async () => {
    for (const world of begun.splice(0)) await world.stop();
  });
  return async (word = PLAIN, choices = {}) => {
    const world = await KybWorld.start({ word, ...choices });
    begun.push(world);
    await world.launch();
    return world;
  };
}

/** Returns the answer of a service that refuses an input and quotes `said`. */
export function refusedSaying(said: string) {
  return { status: 422, body: { error: "validation_error", message: said } };
}

export function taken(service: KybService, officers: readonly { lastName: string }[]): void {
  service.taxId = "987654321";
  service.signer = "Ada Okafor";
  service.officers.push(...officers);
}

export function allTaken(service: KybService, status: string): void {
  taken(service, [{ lastName: "Okafor" }]);
  service.certifier = "Ada Okafor";
  service.status = status;
}
