import type { RunReview } from "../../api/review.ts";
import {
  personProblem,
  phoneProblem,
  unverified,
  type VerifiedBankChange,
  verifiedProblem,
} from "../../domain/approvals/bank-changes.ts";
import { formatUsd } from "../../domain/money.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { Output } from "../terminal/output.ts";
import { counted } from "../../domain/counted.ts";

type BankChange = RunReview["bankChanges"][number];

const FORM =
  "--verified takes VENDOR=PERSON, NUMBER, such as “Acme Paper=Ann Lee, +1 212 555 0100”";

/**
 * Reads the vendors that `--verified` names with changed bank accounts.
 *
 * @throws {CliError} 2 if a text doesn't name one such vendor or has another form
 */
export function verifiedIn(
  texts: readonly string[],
  changes: readonly BankChange[],
): VerifiedBankChange[] {
  return texts.map((text) => {
    const parts = /^(?<vendor>[^=]+)=(?<person>.+),(?<phone>[^,]+)$/s.exec(text)?.groups ?? {};
    const [vendor, person, phone] = [parts["vendor"], parts["person"], parts["phone"]].map((part) =>
      (part ?? "").trim(),
    );
    if (!vendor || !person || !phone) throw usageError(`${FORM}, not “${text}”`);
    const wanted = vendor.toLowerCase();
    const found = changes.filter(
      ({ contactId, contactName }) => contactId === vendor || contactName?.toLowerCase() === wanted,
    );
    const [only, ...others] = found;
    if (only === undefined || others.length > 0) throw noSuchVendor(vendor, changes, found);
    const problem = verifiedProblem({ person, phone });
    if (problem !== undefined) throw usageError(`--verified “${text}”: ${problem}`, FORM);
    return { contactId: only.contactId, person, phone };
  });
}

function noSuchVendor(
  vendor: string,
  changes: readonly BankChange[],
  found: readonly BankChange[],
): Error {
  const named = (found.length > 0 ? found : changes).map(
    ({ contactId, contactName }) => `${contactName ?? "?"} (${contactId})`,
  );
  if (found.length > 0) return usageError(`“${vendor}” may be ${named.join(" or ")}: use its id`);
  const known = named.length === 0 ? "no vendor has one" : `these have: ${named.join(", ")}`;
  return usageError(
    `“${vendor}” has no changed bank account among the bills that your approval counts for; ${known}`,
  );
}

/** Asks on the terminal about vendors not covered yet. @returns undefined if the person gave up */
export async function askVerified(
  output: Pick<Output, "line">,
  changes: readonly BankChange[],
  said: readonly VerifiedBankChange[],
): Promise<VerifiedBankChange[] | undefined> {
  const { text, isCancel } = await import("@clack/prompts");
  const sums = new Map(changes.map((change) => [change.contactId, change]));
  const answers: VerifiedBankChange[] = [];
  for (const { contactId, contactName, text: what } of unverified(changes, said)) {
    const of = sums.get(contactId);
    output.line(
      `${contactName ?? contactId}: ${counted(of?.count ?? 0, "bill")}, ${formatUsd(of?.cents ?? 0)}. ${what}`,
    );
    const person = await text({
      message: "Whom did you call about it?",
      validate: (value = "") => personProblem(value),
    });
    if (isCancel(person)) return undefined;
    const message = "On which number, known from before the change?";
    const phone = await text({ message, validate: (value = "") => phoneProblem(value) });
    if (isCancel(phone)) return undefined;
    answers.push({ contactId, person: person.trim(), phone: phone.trim() });
  }
  return answers;
}
