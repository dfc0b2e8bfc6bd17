import { z } from "@hono/zod-openapi";
import { CancellationStatusBody } from "./cancellations.ts";
import { IncidentStatusBody } from "./incidents.ts";
import { OnboardingStatusBody } from "./onboardings.ts";
import { RunStatusBody } from "./runs.ts";
import type { Shown } from "./shown.ts";

/** The status of a workflow of any kind: each kind has its own shape. */
export const AnyStatusBody = z.discriminatedUnion("kind", [
  RunStatusBody,
  OnboardingStatusBody,
  CancellationStatusBody,
  IncidentStatusBody,
]);

export type AnyStatus = Shown<typeof AnyStatusBody>;
