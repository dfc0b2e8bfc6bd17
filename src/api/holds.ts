import { AUTHOR_KINDS } from "../contracts/authors.ts";
import { z } from "@hono/zod-openapi";
import { ENDED_BY_PERSON, type EndedByPerson, HOLD_SCOPES } from "../domain/holds.ts";
import { notSent } from "./approvals.ts";
import { orNull } from "./or-null.ts";
import { moment, sendsAfterLoss } from "./moment.ts";
import { CancellationStatusBody } from "./cancellations.ts";
import type { Shown } from "./shown.ts";
import { day, instant } from "./times.ts";

export const billsTotal = z.object({ bills: z.int(), totalCents: z.int() });

const heldSums = z
  .object({
    zone: moment.zone,
    waiting: billsTotal.describe("Not with the service: on hold"),
    recallable: billsTotal
      .extend({
        earliestCutOff: instant
          .nullable()
          .describe("When the first of them can't be cancelled any more, on the business clock"),
      })
      .describe("With the service, which can still cancel them"),
    underWay: billsTotal.describe("A request is under way: what it makes can be cancelled"),
    gone: billsTotal.describe(
      "Can't be cancelled: with the bank, too close to it, or split into several payments",
    ),
    paid: billsTotal.describe("Of a bill or a run: paid already, so nothing of it is put on hold"),
    storeBehind: z
      .boolean()
      .describe("True for a restored store: payments that it has lost are not counted"),
    paidByOthers: billsTotal
      .optional()
      .describe("Of a run: others have paid them, or are paying them, so nothing is put on hold"),
    othersUnread: z
      .literal(true)
      .optional()
      .describe(
        "What is paid outside Payrun is not counted: it is not looked for there, or the service didn't say",
      ),
  })
  .openapi("HeldSums");

const ended = z.enum(Object.keys(ENDED_BY_PERSON) as readonly EndedByPerson[]);

export const HoldBody = z
  .object({
    id: z.string(),
    business: z.string(),
    zone: moment.zone,
    scope: z.enum(HOLD_SCOPES),
    value: z.string(),
    number: z.string().nullable().describe("The bill's number, or the account's last four"),
    name: z.string().nullable().describe("The vendor's or the account's"),
    amountCents: z.int().nullable().describe("Total of the bill"),
    reason: z.string(),
    author: z.string(),
    authorKind: z.enum(AUTHOR_KINDS).describe("Whether a person or Payrun itself has set it"),
    roles: z.array(z.string()).describe("Roles that alone may lift it; empty if any operator may"),
    yours: z
      .boolean()
      .optional()
      .describe("In the list, and of a bill: whether the caller may lift it while it is in force"),
    createdAt: instant,
    until: instant.nullable(),
    releasedAt: instant.nullable(),
    releasedBy: z.string().nullable(),
    note: z.string().optional(),
    holds: heldSums.optional().describe("What it is on, if it was just set"),
    goesOut: billsTotal
      .extend({
        ...sendsAfterLoss.shape,
        items: z
          .array(
            z.object({
              payableId: z.string(),
              publicId: z.string().nullable(),
              contactName: z.string().nullable(),
              amountCents: z.int(),
              runId: z.string(),
            }),
          )
          .describe("The first hundred of them"),
        notSent,
        asksAgain: billsTotal
          .extend({ executionDate: day })
          .optional()
          .describe(
            "Others whose day has passed: they move to this one, and an approval is asked for again",
          ),
      })
      .optional()
      .describe("Approved bills that no hold applies to any more, if it was just lifted"),
    stillOnHoldBy: z
      .array(z.string())
      .optional()
      .describe("Ids of holds that are on everything all the same, if it was just lifted"),
    ended: ended
      .optional()
      .describe("How a person has ended its bill, which the next run may pay once it is lifted"),
  })
  .openapi("Hold");

export const HoldListBody = z.object({
  items: z.array(HoldBody),
  totalCount: z.int().describe("Holds on all pages"),
  nextPage: z.int().nullable().describe("Null on the last page"),
});

export const ReleaseBody = z
  .object({
    released: z.array(HoldBody).describe("Lifted, or what would be"),
    kept: z
      .array(
        z.object({
          hold: HoldBody,
          roles: z.array(z.string()).describe("Any of these lifts it"),
          ended: ended
            .optional()
            .describe("How a person has ended its bill: it is lifted only by itself"),
        }),
      )
      .describe("Set by the same person, and not lifted with the others"),
    goesOut: HoldBody.shape.goesOut.unwrap(),
    hash: z
      .string()
      .describe("Of `released`: a request that names it lifts exactly these holds, or none"),
  })
  .openapi("Release");

export const StopPreviewBody = z
  .object({
    business: z.string(),
    scope: z.enum(HOLD_SCOPES),
    value: z.string(),
    number: z.string().nullable().describe("The account's last four, the run's short name"),
    name: z.string().nullable().describe("The vendor's or the account's"),
    holds: heldSums,
  })
  .openapi("StopPreview");

export const StopBody = z
  .object({
    hold: HoldBody.describe("The one hold that is on all of it until it is released"),
    holds: heldSums,
    cancellation: orNull(CancellationStatusBody).describe(
      "What cancels the rest; null if that was not asked for",
    ),
  })
  .openapi("Stop");

export type StopPreview = Shown<typeof StopPreviewBody>;
export type Stop = Shown<typeof StopBody>;
export type Release = Shown<typeof ReleaseBody>;
export type HoldView = Shown<typeof HoldBody>;
export type HeldSums = Shown<typeof heldSums>;
export type GoesOut = NonNullable<HoldView["goesOut"]>;
