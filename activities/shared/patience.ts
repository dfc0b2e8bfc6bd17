/**
 * Options for reads of many pages or bills: a service's limit on requests makes them take longer,
 * but must not make them start over, or they would never end.
 */
export const PATIENT = { patienceMs: 5 * 60_000 } as const;
