import { z } from "zod";
import { STARTING_EVENTS, type StartedByEvents } from "../contracts/events.ts";
import { repeated } from "./check-values.ts";
import type { Issue } from "./source.ts";

/**
 * Returns the schema for `events:` of a kind of playbook: types of the service's events, each once.
 */
export function events<Kind extends StartedByEvents>(kind: Kind, description: string) {
  return z
    .array(z.enum(STARTING_EVENTS[kind]))
    .min(1, { error: "`events` names no event" })
    .optional()
    .meta({ description, examples: [STARTING_EVENTS[kind].slice(-2)] });
}

/** Finds events that are listed twice. */
export function checkEvents(written: unknown): Issue[] {
  return Array.isArray(written) ? repeated(written, ["events"]) : [];
}
