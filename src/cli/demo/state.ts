import { join } from "node:path";
import { z } from "zod";

import { readJsonIfThere, writePrivate } from "../home/private-file.ts";

const shape = z.object({
  version: z.literal(1),
  finished: z.boolean(),
  startedAt: z.string(),
  /** Payments that the service had before the demo, which didn't make them. */
  paymentsBefore: z.array(z.string()).optional(),
  runId: z.string().optional(),
  /** Bills that an approver left out. */
  dropped: z.array(z.string()).optional(),
  /** The bill whose payment the service took when the worker was killed, and that payment. */
  crash: z.object({ payableId: z.string(), paymentId: z.string() }).optional(),
  crashShown: z.boolean().optional(),
  /** Held-back bills that the owner released. */
  released: z.array(z.string()).optional(),
  /** The funding account whose payments bounced, and the bills that waited for its decision. */
  bounced: z.object({ source: z.string(), payableIds: z.array(z.string()) }).optional(),
});

/** The demo's progress; everything else is in the store, Temporal and the sandbox. */
export type DemoState = z.infer<typeof shape>;

const pathIn = (home: string) => join(home, "demo.json");

/** Returns the demo that was begun in this home; undefined if there is none. */
export function readState(home: string): DemoState | undefined {
  return shape.safeParse(readJsonIfThere(pathIn(home))).data;
}

export function writeState(home: string, state: DemoState): void {
  writePrivate(pathIn(home), `${JSON.stringify(state, null, 2)}\n`);
}

export function newState(): DemoState {
  return { version: 1, finished: false, startedAt: new Date().toISOString() };
}
