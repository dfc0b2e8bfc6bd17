import { counted } from "../counted.ts";
import {
  any,
  fact,
  type Head,
  news,
  notice,
  text,
  texts,
  wakeWorkflow,
  whole,
  yes,
} from "./fact.ts";

/** An entry's subject is the onboarding's workflow. */
export const onboardingLaunched = fact("onboarding.launched", {
  playbook: text,
  revision: whole,
  round: whole,
});

const wakes = ({ by, subject }: Head) => (typeof by === "string" ? [wakeWorkflow(subject)] : []);

const provided = { step: text, inputIds: texts, from: text, tokenId: text };
const signature = { name: any, at: any, text, textSha256: text, textConfirmed: yes };

export const onboardingProvided = fact("onboarding.provided", provided, { wakes });
/** Who put their name to which text, and when. */
export const ONBOARDING_ACTS = {
  signature: fact("onboarding.signed", { ...provided, ...signature }, { wakes }),
  certification: fact("onboarding.certified", { ...provided, ...signature }, { wakes }),
};

/** Whose onboarding it is, and who is reminded of it. */
interface Whose {
  readonly subject: string;
  readonly business: string;
  readonly round: number;
  readonly roles: readonly string[];
}

const ENDS: Readonly<Record<string, string>> = {
  verified: "The Payments Service has verified the business.",
  expired: "Nobody did what it waited for; launch it again to go on.",
};

interface Ended extends Pick<Whose, "subject"> {
  readonly phase: string;
  /** Missing if a person has ended it. */
  readonly ending?: Omit<Whose, "subject"> & { readonly isPlaybookProposed: boolean };
}

export const onboardingEnded = fact(
  "onboarding.ended",
  { phase: text, round: whole.optional(), forgotten: whole, reason: text.optional() },
  {
    notifies: notice("onboarding", ({ subject: onboarding, phase, ending }: Ended) => {
      if (ending === undefined) return undefined;
      const { business, round, roles, isPlaybookProposed } = ending;
      return {
        factKey: `${onboarding}/r${round}/${phase}`,
        subject: `Onboarding of ${business}: ${phase}`,
        text: `${ENDS[phase]}${isPlaybookProposed ? `\n\nA first playbook is proposed: payrun status ${onboarding}` : ""}`,
        roles,
        data: { onboarding, phase },
      };
    }),
    wakes,
  },
);

export const onboardingPhase = fact("onboarding.phase", { from: text, to: text });

interface Waits extends Whose {
  readonly phase: string;
  /** What it waits for, by name. */
  readonly wait: string;
  /** What is the matter; its phase if missing. */
  readonly is?: string;
  readonly waitingFor: string;
}

/** An onboarding waits for a person, or can't go on. */
export const onboardingWaits = news(
  notice("onboarding", ({ subject: onboarding, phase, is = phase, ...of }: Waits) => ({
    factKey: `${onboarding}/r${of.round}/${of.wait}`,
    subject: `Onboarding of ${of.business}: ${is}`,
    text: of.waitingFor,
    roles: of.roles,
    data: { onboarding, phase },
  })),
);

interface Reminded extends Whose {
  readonly wait: string;
  readonly sinceMs: number;
  readonly reminder: number;
  readonly remindEveryDays: number;
  /** Infinity for never. */
  readonly expireAfterDays: number;
  readonly text: string;
}

export const onboardingReminded = fact(
  "onboarding.reminded",
  { wait: text, reminder: whole },
  {
    notifies: notice("reminder", ({ subject: onboarding, reminder, ...of }: Reminded) => {
      const waitedDays = reminder * of.remindEveryDays;
      const hint = Number.isFinite(of.expireAfterDays)
        ? `It ends in about ${counted(of.expireAfterDays - waitedDays, "day")} if nothing happens.`
        : `That has taken ${counted(waitedDays, "day")}: ask the service's support what it waits for.`;
      return {
        factKey: `${onboarding}/r${of.round}/${of.wait}/${of.sinceMs}/${reminder}`,
        subject: `Reminder: the onboarding of ${of.business} waits`,
        text: `${of.text}\n\n${hint}`,
        roles: of.roles,
        data: { onboarding, reminder },
      };
    }),
  },
);

const input = { step: text, inputId: text };
const because = { ...input, reason: text.optional() };

export const inputSending = fact("onboarding.sending", { ...input, send: whole });
export const inputUnanswered = fact("onboarding.unanswered", {
  ...input,
  status: whole.nullable(),
});
export const inputNotTaken = fact("onboarding.not-taken", {
  ...input,
  status: whole.nullable(),
  code: any,
});
export const INPUT_ENDED = {
  found: fact("onboarding.found", because),
  sent: fact("onboarding.sent", because),
  refused: fact("onboarding.refused", because),
  voided: fact("onboarding.voided", because),
};
