import { z } from "zod";
import { read } from "../../blocks.ts";
import { readQuorum, readRole } from "../../field-texts.ts";
import { WORD_PATTERN } from "../../texts.ts";

/** Returns a schema for the roles that may decide about something. */
export const approvers = (description: string) =>
  z
    .array(
      read(readRole).meta({
        type: "string",
        pattern: `^${WORD_PATTERN.slice(1, -1)}$`,
        examples: ["controller", "owner"],
      }),
    )
    .min(1, { error: "this names no role: nobody could approve" })
    .max(20, { error: "this names more than 20 roles" })
    .meta({ description, examples: [["controller", "owner"]] });

/** The number of approvers required. */
export const quorum = read(readQuorum).prefault(1).meta({
  description: "How many different people must approve.",
  type: "integer",
  minimum: 1,
  maximum: 10,
});
