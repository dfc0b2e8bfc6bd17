import { z } from "zod";
import { read } from "../../blocks.ts";
import { HOURS_PATTERN, readHours, readShortTime, SHORT_TIME_PATTERN, THEN } from "../../texts.ts";

/** What happens if an approval is hurried. */
export const hurryRule = z
  .strictObject({
    under: read(readShortTime)
      .optional()
      .meta({
        description: "An approval sooner than this after the plan is hurried.",
        type: "string",
        pattern: SHORT_TIME_PATTERN,
        examples: ["1 minute", "30 seconds"],
      }),
    outside: read(readHours)
      .optional()
      .meta({
        description:
          "An approval outside these hours is hurried. The zone is that of `schedule`; without one, the business's.",
        type: "string",
        pattern: HOURS_PATTERN,
        examples: ["07:00-20:00"],
      }),
    [THEN]: z.enum(["notify", "another"]).default("notify").meta({
      description:
        "What a hurried approval does: notify the approvers, or also need one more person for its bills. A signed decision is never hurried.",
    }),
  })
  .superRefine((written, context) => {
    if (written.under !== undefined || written.outside !== undefined) return;
    const message = "`hurry` needs `under`, `outside`, or both";
    context.addIssue({ code: "custom", message });
  })
  .meta({
    description: "What happens if a person approves seconds after the plan, or at odd hours.",
    examples: [{ under: "1 minute", outside: "07:00-20:00" }],
  });
