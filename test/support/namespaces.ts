/**
 * Every whole Payrun in a test has a namespace of its own, because all workers poll one task queue.
 */
export const NAMESPACES = Array.from({ length: 90 }, (_, number) => `test-${number}`);
