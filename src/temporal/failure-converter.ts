import { DefaultFailureConverter } from "@temporalio/common";

/** Puts the messages and stacks of failures where the codec encrypts them. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
