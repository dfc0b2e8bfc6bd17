import { onboardingWaits } from "../../src/domain/facts/onboardings.ts";
import { record } from "../../src/store/facts/record.ts";
import type { OnboardingAssessment } from "../../src/contracts/onboarding.ts";
import { withoutPersonal } from "../../src/domain/onboarding/masking.ts";
import type { PaymentsApiError } from "../../src/payments-api/index.ts";
import { updateOnboarding } from "../../src/store/onboarding/onboardings.ts";
import type { ActivityContext } from "../shared/context.ts";
import { textOfError } from "../shared/error-text.ts";
import { finish, headOf, remind, whose } from "./progress.ts";
import { type OnboardingStanding, waitOf } from "./standing.ts";

/** Pause before a service that can't be read is read again. */
const READ_AGAIN_MS = 60_000;

/** The name of the wait if nothing was waited for before. */
const UNREAD = "unread";

/**
 * Assesses an onboarding while the service can't be read. The wait that was under way goes on, with
 * its reminders and its end; the people who can mend the fault are notified.
 */
export async function unreadable(
  context: ActivityContext,
  standing: OnboardingStanding,
  error: PaymentsApiError,
): Promise<OnboardingAssessment> {
  const { onboarding, clock } = standing;
  const { businessId, phase } = onboarding;
  const key = onboarding.waitKey === "" ? UNREAD : onboarding.waitKey;
  const { wait, isNew, verdict } = waitOf(standing, key);
  if (verdict === "expired") {
    return finish(context, standing, phase === "verified" ? "verified" : "expired");
  }
  const needsAction = error.status === 401 || error.status === 403 || error.status === 404;
  const hint = needsAction
    ? " Check the token of the profile, its scopes and the business id."
    : "";
  const waitingFor = `The service can't be read: ${withoutPersonal(textOfError(error))}${hint}`;
  await context.store.transactionOf(businessId, async (trx) => {
    const change = { waitingFor, needsAction, ...(isNew ? { wait: { key, ...wait } } : {}) };
    await updateOnboarding(trx, businessId, change, clock.realMs);
    if (!needsAction) return;
    await record(
      trx,
      onboardingWaits(headOf(standing), {
        ...whose(onboarding),
        phase,
        waitingFor,
        is: "the service can't be read",
        wait: `${key}/unreadable:${error.status}`,
      }),
    );
  });
  if (verdict === "remind") await remind(context, standing, { key, text: waitingFor, wait });
  return {
    phase,
    ended: false,
    waitingFor,
    needsAction,
    send: null,
    wakeInMs: error.retryAfterMs ?? clock.soonerMs(READ_AGAIN_MS),
    details: waitingFor,
  };
}
