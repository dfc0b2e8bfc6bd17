import type { OnboardingStatus } from "../../api/onboardings.ts";
import { phaseText, waitsForLines } from "./run.ts";
import { bold, dim, printable, textTable } from "../terminal/text.ts";

/** Describes for a person where an onboarding stands. */
export function onboardingLines(status: OnboardingStatus): string[] {
  const { business, waitingFor, provided, proposal, nextSteps } = status;
  const asked = nextSteps.filter(({ message }) => waitingFor?.includes(message) !== true);
  const rows = provided.map(({ step, state, providedBy, reason }) => [
    step,
    state,
    printable(providedBy),
    printable(reason ?? ""),
  ]);
  return [
    `${bold(status.id)}  ${phaseText(status.phase)}`,
    dim(`${status.playbook}, ${business} · launched by ${printable(status.launchedBy)}`),
    ...waitsForLines(waitingFor),
    ...asked.map(({ message }) => `The service says: ${printable(message)}`),
    ...textLines(status),
    ...(rows.length === 0
      ? []
      : ["", ...textTable([{ title: "Provided" }, { title: "State" }, { title: "By" }, {}], rows)]),
    ...(proposal === null
      ? []
      : [
          "",
          `A first playbook is proposed. Nothing runs before you have read it, saved it as ${proposal.name}.yaml and run: payrun apply ${proposal.name}.yaml`,
          "",
          ...proposal.text.trimEnd().split("\n"),
        ]),
  ];
}

/** Shows the text to be signed beside the request for the signature. */
function textLines({ phase, texts }: OnboardingStatus): string[] {
  if (phase !== "signature" && phase !== "certification") return [];
  return ["", ...texts[phase].split("\n").map((line) => `  ${line}`)];
}
