/** Every whole Payrun in a test has a namespace of its own: all workers poll one task queue. */
export const NAMESPACES = Array.from({ length: 90 }, (_, number) => `test-${number}`);
