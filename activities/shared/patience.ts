/**
 * For reads of many pages or bills: a service's limit on requests makes them take longer, and must
 * not make them begin anew, or they would never end.
 */
export const PATIENT = { patienceMs: 5 * 60_000 } as const;
