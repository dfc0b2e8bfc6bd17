import { z } from "@hono/zod-openapi";
import { CancellationStatusBody } from "./cancellations.ts";
import { IncidentStatusBody } from "./incidents.ts";
import { OnboardingStatusBody } from "./onboardings.ts";
import { RunStatusBody } from "./runs.ts";

/** Whatever has a status: each kind of workflow has its own shape. */
export const AnyStatusBody = z.union([
  RunStatusBody,
  OnboardingStatusBody,
  CancellationStatusBody,
  IncidentStatusBody,
]);
