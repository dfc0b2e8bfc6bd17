import { z } from "zod";

import { topUp } from "./deposit-shapes.ts";

const incident = z.looseObject({
  business: z.string(),
  source: z.string(),
  phase: z.string(),
  code: z.string(),
  reason: z.string(),
  roles: z.array(z.string()),
  decision: z.string().nullable(),
  decidedBy: z.string().nullable(),
  bills: z.int(),
  billsCents: z.int(),
  topUps: z.array(topUp),
});

export type Incident = z.infer<typeof incident>;

/** A funding account that bounced, as far as commands read it. */
export const incidentAnswer = incident;
export const incidentList = z.looseObject({ items: z.array(incident) });
