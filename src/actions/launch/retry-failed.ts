import type { RetryFailedPlaybook } from "../../contracts/playbook.ts";
import { unprocessable } from "../errors.ts";
import type { Launcher } from "./launcher.ts";

/** Failures start it, people don't: a launch is answered with how to use it. */
export const refuseRetryFailed: Launcher<RetryFailedPlaybook> = (_, { request }) =>
  Promise.reject(
    unprocessable(
      "not_launched",
      `“${request.playbook}” looks after failed payments, so failures start it. Name it in a pay-run playbook: onFailure: ${request.playbook}.`,
    ),
  );
