import { REINITIATION_DAYS, REINITIATIONS_MAX } from "../../../domain/payments/return-codes.ts";
import { fine, readDays, readWord, shown, wrong } from "../../texts.ts";
import type { TextReading } from "../../texts.ts";

export interface FailureMatch {
  /** ACH return codes, such as `R01`. */
  readonly codes: readonly string[];
  /** Words of a reason. If both lists are empty, anything matches. */
  readonly words: readonly string[];
}

const EXPECTED = "return codes and words, such as [R01, insufficient funds], or anything-else";

/** Reads which failures a rule is for. */
export function readMatch(input: unknown): TextReading<FailureMatch> {
  if (input === "anything-else") return fine({ codes: [], words: [] });
  if (!Array.isArray(input)) {
    const guess = typeof input === "string" ? `[${input}]` : undefined;
    return wrong(`${shown(input)} does not say which failures`, EXPECTED, guess);
  }
  const list: readonly unknown[] = input;
  if (list.length === 0) return wrong("`match` names no failure", EXPECTED);
  if (list.length > 100) return wrong("`match` names more than 100 failures", EXPECTED);
  const codes: string[] = [];
  const words: string[] = [];
  for (const item of list) {
    if (typeof item !== "string" || item.trim() === "" || item.length > 100) {
      return wrong(`${shown(item)} is neither a return code nor words`, EXPECTED);
    }
    if (item === "anything-else") {
      return wrong("`anything-else` stands alone", EXPECTED, "anything-else");
    }
    const text = item.trim();
    if (/^r\d+$/i.test(text)) {
      if (!/^R\d{2}$/.test(text)) {
        const guess = /^r\d{1,2}$/i.test(text) ? `R${text.slice(1).padStart(2, "0")}` : undefined;
        return wrong(`${shown(item)} is not a return code`, "a code such as R01", guess);
      }
      codes.push(text);
    } else if (text.length < 3) {
      return wrong(`${shown(item)} is too short: it would be found by chance`, EXPECTED);
    } else {
      words.push(text);
    }
  }
  return fine({ codes, words });
}

/** Reads how many days after a failure its bill is given up. */
export function readGiveUpAfter(input: unknown): TextReading<number> {
  const example = "30 days";
  const days = typeof input === "string" ? /^(\d+) days?$/.exec(input.trim())?.[1] : undefined;
  if (Number(days) > REINITIATION_DAYS) {
    return wrong(
      `Nacha's rules end reinitiations ${REINITIATION_DAYS} days after the settlement, so ${shown(input)} would wait for nothing`,
      `1 to ${REINITIATION_DAYS} days, such as ${example}`,
      `${REINITIATION_DAYS} days`,
    );
  }
  return readDays(input, { unit: "days", min: 1, max: REINITIATION_DAYS, example });
}

/** Reads how often to pay again. */
export function readAtMost(input: unknown): TextReading<1 | 2> {
  if (input === 1 || input === 2) return fine(input);
  const expected = "1 or 2";
  if (typeof input === "number" && input > REINITIATIONS_MAX) {
    return wrong(
      `Nacha's rules allow ${REINITIATIONS_MAX} reinitiations of a returned debit, not ${input}`,
      expected,
      "2",
    );
  }
  if (input === 0) return wrong("`atMost: 0` would never pay again", "1 or 2, or `ask`");
  return wrong(`${shown(input)} is not a number of retries`, expected);
}

/** Reads the role of a person to ask or notify, including Payrun's operator and admin. */
export function readPersonText(input: unknown): TextReading<string> {
  if (input === "viewer" || input === "launcher") {
    return wrong(`\`${input}\` decides nothing`, "a role such as controller or operator");
  }
  return readWord(input, "a role", "controller");
}
