import { z } from "@hono/zod-openapi";
import { INPUT_STATES, ONBOARDING_PHASES, PROVIDED_STEPS } from "../contracts/onboarding.ts";
import type { Shown } from "./shown.ts";
import { stand } from "./stand.ts";
import { instant } from "./times.ts";

/** The status of an onboarding, for the OpenAPI document. */
export const OnboardingStatusBody = z
  .object({
    id: z.string(),
    kind: z.literal("kyb-onboarding"),
    business: z.string(),
    playbook: z.string(),
    phase: z.enum(ONBOARDING_PHASES),
    ended: z.boolean(),
    waitingFor: z.string().nullable(),
    ...stand,
    counts: z.record(z.string(), z.int()),
    totalCents: z.literal(0),
    planHash: z.null(),
    payments: z.array(z.object({})).max(0),
    launchedBy: z.string(),
    waitingSince: instant.nullable().describe("On the business clock"),
    reminders: z.int(),
    nextSteps: z.array(z.object({ step: z.string().nullable(), message: z.string() })),
    provided: z
      .array(
        z.object({
          step: z.enum(PROVIDED_STEPS),
          state: z.enum(INPUT_STATES),
          reason: z.string().nullable(),
          providedBy: z.string(),
          providedAt: instant,
        }),
      )
      .describe("What was provided, without its content"),
    texts: z
      .object({ signature: z.string(), certification: z.string() })
      .describe("The text that the person who signs or certifies puts their name to"),
    proposal: z.object({ name: z.string(), text: z.string() }).nullable(),
  })
  .openapi("Onboarding");

export type OnboardingStatus = Shown<typeof OnboardingStatusBody>;
