import type { RunReview } from "../../api/review.ts";
import { DecisionBody } from "../../api/schemas.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { changedRecordLines } from "../show/changed-records.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { asked, canAsk } from "../terminal/confirm.ts";
import type { Output } from "../terminal/output.ts";
import { green } from "../terminal/text.ts";

type ChangedRecord = RunReview["changedRecords"][number];

interface Options {
  /** Names or ids of vendors, or “all”. */
  readonly vendors: readonly string[];
  readonly reason?: string | undefined;
  readonly yes?: true | undefined;
}

/** Says that the accounts of vendors are still right although their records were changed. */
export async function confirmAccounts(
  { output, gateway }: { readonly output: Output; readonly gateway: GatewayClient },
  id: string,
  { vendors, reason, yes }: Options,
): Promise<ExitCode> {
  const review = await gateway.review(id, { pageSize: 1, drop: [] });
  const { changedRecords, planHash } = review;
  if (changedRecords.length === 0) throw notAsked(review);
  const records = vendors.flatMap((vendor) => named(vendor, changedRecords));
  if (yes === undefined && canAsk(output)) {
    output.lines(changedRecordLines(records));
    const question = records.length === 1 ? "Is the account still right?" : "Are all still right?";
    if (!(await asked(question))) {
      output.note("Nothing was decided.");
      return EXIT.failed;
    }
  }
  const answer = await gateway.post(`/v1/runs/${encodeURIComponent(id)}/decisions`, DecisionBody, {
    decision: "approve",
    planHash,
    confirmedRecords: records.map(({ contactId, updatedAt }) => ({ contactId, updatedAt })),
    ...definedOnly({ comment: reason }),
  });
  output.line(`${green("✓")} ${answer.summary}`);
  await noteNobodyWorks(gateway, output);
  output.document(answer);
  return EXIT.done;
}

/** Says why a person is asked about no vendor of the run. */
function notAsked({ yours, missing }: RunReview): CliError {
  const roles = missing.flatMap(({ aboutRecord, by }) => (aboutRecord === true ? by : []));
  const role = `this takes one of the roles ${[...new Set(roles)].join(", ")}`;
  const { code, reason } =
    yours.refusal ??
    (roles.length > 0
      ? { code: "role_missing", reason: role }
      : {
          code: "nothing_left",
          reason:
            "nobody waits for your word in this run: no vendor's record was changed after the approval, the word was given before, or your role can't give it",
        });
  return new CliError(EXIT.failed, `Refused: ${reason}.`, { code });
}

function named(vendor: string, records: readonly ChangedRecord[]): readonly ChangedRecord[] {
  const wanted = vendor.trim().toLowerCase();
  const found =
    wanted === "all"
      ? records
      : records.filter(
          ({ contactId, contactName }) =>
            contactId === vendor.trim() || contactName?.toLowerCase() === wanted,
        );
  const ids = new Set(found.map(({ contactId }) => contactId));
  const all = (some: readonly ChangedRecord[]) =>
    some.map(({ contactId, contactName }) => `${contactName ?? "?"} (${contactId})`).join(", ");
  if (wanted !== "all" && ids.size > 1) {
    throw usageError(`“${vendor}” may be ${all(found)}: use its id`);
  }
  if (found.length > 0) return found;
  throw usageError(
    `“${vendor}” is none of the vendors that you are asked about in this run: ${all(records)}`,
  );
}
