import type { RetryFailedPlaybook } from "../../contracts/playbook.ts";
import { unprocessable } from "../errors.ts";
import type { Launcher } from "./launcher.ts";

/** Refuses the launch, and says how to use the playbook: failures start it, people don't. */
export const refuseRetryFailed: Launcher<RetryFailedPlaybook> = (_, { request }) =>
  Promise.reject(
    unprocessable(
      "not_launched",
      `“${request.playbook}” looks after failed payments, so failures start it. Name it in a pay-run playbook: onFailure: ${request.playbook}.`,
    ),
  );
