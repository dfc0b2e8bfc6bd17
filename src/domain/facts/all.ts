import * as access from "./access.ts";
import * as approvals from "./approvals.ts";
import * as businesses from "./businesses.ts";
import * as cancellations from "./cancellations.ts";
import * as decisions from "./decisions.ts";
import * as holds from "./holds.ts";
import * as incidents from "./incidents.ts";
import * as lines from "./lines.ts";
import * as onboardings from "./onboardings.ts";
import * as payments from "./payments.ts";
import * as playbooks from "./playbooks.ts";
import * as requests from "./requests.ts";
import * as retries from "./retries.ts";
import * as runs from "./runs.ts";
import { type Declared, type News, type Sentence, wordsOf } from "./fact.ts";

type AnyFact = Declared<never, never> | News<never>;

const EACH = [
  access,
  approvals,
  businesses,
  cancellations,
  decisions,
  holds,
  incidents,
  lines,
  onboardings,
  payments,
  playbooks,
  requests,
  retries,
  runs,
]
  .flatMap((noun) => Object.values<unknown>({ ...noun }))
  // Facts that differ in one word stand together.
  .flatMap((of) => (typeof of === "object" ? Object.values<unknown>({ ...of }) : [of]));

/** Every fact that is declared, of the trail or only of a notice. */
export const FACTS = EACH.filter(
  (each): each is AnyFact =>
    typeof each === "function" && ("read" in each || "isForOperators" in each),
);

const BY_ACTION = new Map(FACTS.flatMap((each) => ("read" in each ? [[each.action, each]] : [])));

/** Words an entry of the trail, as its fact does. */
export function sentenceOf(entry: {
  readonly action: string;
  readonly details: Readonly<Record<string, unknown>>;
}): Sentence {
  const { action, details } = entry;
  return BY_ACTION.get(action)?.says(details) ?? wordsOf(action, details);
}
