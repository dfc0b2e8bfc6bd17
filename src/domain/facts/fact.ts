import { z } from "zod";
import type { Author } from "../../contracts/authors.ts";
import type { NoticeKind } from "../../contracts/notices.ts";

/** Shapes that facts are made of. */
export const text = z.string();
export const whole = z.number();
export const yes = z.boolean();
export const texts = z.array(text).readonly();
/** A value that its readers check. */
export const any = z.unknown().optional();

/** When a fact came about, by whom, and what it is about. */
export interface Head {
  readonly businessId: string;
  /** Real time. */
  readonly nowMs: number;
  readonly by: Author;
  readonly subject: string;
}

/** Which workflows must look because of a fact. */
export type Wake =
  /** One workflow: of a decision, a resolution, a step of an onboarding. */
  | { readonly kind: "workflow"; readonly workflowId: string }
  /** What depends on a run: it has a plan, is to stop, or has ended. */
  | { readonly kind: "run"; readonly runId: string }
  /** What a hold stops: it was set, was released, or has come to its end. */
  | {
      readonly kind: "hold";
      readonly holdId: string;
      readonly scope: string;
      readonly value: string;
    }
  /** The bills that wait for a funding account whose payments bounced. */
  | { readonly kind: "incident"; readonly sourceId: string }
  /** Every run: a fault of the whole business has begun, or is over. */
  | { readonly kind: "wait" }
  /** Every workflow at work for the business: its clock has been moved. */
  | { readonly kind: "clock" };

export function wakeWorkflow(workflowId: string): Wake {
  return { kind: "workflow", workflowId };
}

export function wakeOfRun(runId: string): Wake {
  return { kind: "run", runId };
}

/** What a notice says of its fact. */
export interface NoticeSays {
  /**
   * Identifies the fact within its business and kind: it is reported once, however often the notice
   * is raised.
   */
  readonly factKey: string;
  /** One line. */
  readonly subject: string;
  /** Plain text, a few lines. */
  readonly text: string;
  /** Roles that it concerns, the operators if missing; empty for every channel. */
  readonly roles?: readonly string[];
  /** For programs. JSON-safe; never a token, an account number or other secrets. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Run that it is about; the run's status then shows whether the notice could be delivered. */
  readonly runId?: string;
  /**
   * The principal that it is for. If the profile has no address of theirs, it goes to its roles, or
   * to nobody if it has none.
   */
  readonly person?: string;
  /**
   * Real instant before which it isn't sent, so that others like it can join (`takeBackUnsent`); at
   * once if missing.
   */
  readonly sendAtMs?: number;
  /** Vendor that it is for; the vendor's addresses are read from the service when it is sent. */
  readonly contactId?: string;
  /**
   * The facts that it reports, none of which is ever reported again, for facts that come in
   * hundreds, such as bills that are parked for one cause. The caller has made sure, in the same
   * transaction, that none of them has been reported.
   */
  readonly together?: readonly string[];
}

/** A message to our own people or to a vendor. */
export interface NewNotice extends NoticeSays {
  readonly businessId: string;
  readonly kind: NoticeKind;
  readonly roles: readonly string[];
  /** Real time. */
  readonly nowMs: number;
}

type Details = Readonly<Record<string, unknown>>;

/** A line of a plan to which a fact came about together with others. */
export interface FactLine<D = Details> {
  readonly payableId: string;
  /** Its place in the plan. */
  readonly lineNo: number;
  readonly details?: D;
}

/** What has come about, ready to be recorded. */
export interface Fact extends Pick<Head, "businessId" | "nowMs"> {
  /** Its entry in the trail; missing for what only people or workflows must know. */
  readonly entry?: {
    readonly actor: Author;
    readonly action: string;
    readonly subject: string;
    /** JSON-safe; never a token, an account number or other secrets. */
    readonly details: Details;
    /** Lines of a run that it is about, in place of its subject. */
    readonly of?: { readonly runId: string; readonly lines: readonly FactLine[] };
  };
  readonly notice?: NewNotice;
  readonly wakes: readonly Wake[];
  /** True if it counts only if its notice is news. */
  readonly once?: true;
}

/** Whom a fact notifies. */
export interface Notifies<About> {
  readonly kind: NoticeKind;
  /** True if it goes to the operators, whatever it is about. */
  readonly isForOperators: boolean;
  readonly of: (when: When, about: About) => NewNotice | undefined;
}

type When = Pick<Head, "businessId" | "nowMs">;

/**
 * Declares whom a fact notifies, and of what.
 *
 * @param says gets who did what when, the fact's details, and what its recorder adds; returns
 *   undefined if nobody need know this time
 */
export function notice<About>(
  kind: NoticeKind,
  says: (about: About) => (NoticeSays & { readonly roles: readonly string[] }) | undefined,
): Notifies<About> {
  return { ...toOperators(kind, says), isForOperators: false };
}

/** Does the same for what only operators can mend. */
export function toOperators<About>(
  kind: NoticeKind,
  says: (about: About) => NoticeSays | undefined,
): Notifies<About> {
  return {
    kind,
    isForOperators: true,
    of({ businessId, nowMs }, about) {
      const said = says(about);
      return said && { roles: OPERATORS, ...said, businessId, nowMs, kind };
    },
  };
}

const OPERATORS: readonly string[] = ["operator"];

/** A fact that only people must know, and that the trail doesn't have. */
export type News<About> = Notifies<About> & ((when: When, about: About) => Fact);

export function news<About>(notifies: Notifies<About>): News<About> {
  const made = (when: When, about: About): Fact => {
    const raised = notifies.of(when, about);
    return { ...when, wakes: [], ...(raised && { notice: raised }) };
  };
  return Object.assign(made, notifies);
}

/** A fact that only workflows must know. */
export function wakeUp(businessId: string, ...wakes: readonly Wake[]): Fact {
  return { businessId, nowMs: 0, wakes };
}

export interface Sentence {
  /** What kind of step it is in the history of a bill. */
  readonly kind: string;
  readonly text: string;
}

/** What is added to a fact's details for those whom it notifies. */
type More<D, About> = Omit<About, keyof D | keyof Head>;

/** Some of a fact's details. */
type Some<D> = { readonly [Name in keyof D]?: D[Name] | undefined };

interface Lines<D> {
  readonly runId: string;
  readonly lines: readonly FactLine<Some<D>>[];
}

/** An entry of the trail, as its one author declares it. */
export interface Declared<D extends object, About = object> {
  (
    head: Head,
    details: D,
    ...more: object extends More<D, About> ? [more?: More<D, About>] : [More<D, About>]
  ): Fact;
  /** Says of several lines of a run at once what differs between them, and what doesn't. */
  readonly ofLines: (head: Omit<Head, "subject">, same: Some<D>, of: Lines<D>) => Fact;
  readonly action: string;
  /** Reads the details of an entry; undefined if nobody has recorded such a fact. */
  readonly read: (details: unknown) => D | undefined;
  readonly says: (details: unknown) => Sentence;
  readonly notifies: Notifies<About> | undefined;
}

/**
 * Declares an entry of the trail.
 *
 * @param of.says its sentence; without one, the action's words are it
 * @param of.once true if it is recorded only if its notice is news
 */
export function fact<S extends z.ZodRawShape, About = object>(
  action: string,
  shape: S,
  of: {
    readonly says?: (details: z.output<z.ZodObject<S>>) => string;
    /** What kind of step it is in a history, if not what its name begins with. */
    readonly kind?: string;
    readonly notifies?: Notifies<About>;
    readonly wakes?: (about: Head & z.output<z.ZodObject<S>> & About) => readonly Wake[];
    readonly once?: true;
  } = {},
): Declared<z.output<z.ZodObject<S>>, About> {
  type D = z.output<z.ZodObject<S>>;
  const { notifies, wakes, says, once } = of;
  const all = z.object(shape);
  const read = (details: unknown): D | undefined => all.safeParse(details).data;
  const made = (head: Head, details: D, more?: object): Fact => {
    const { businessId, nowMs, by: actor, subject } = head;
    const about = { ...head, ...details, ...more } as Head & D & About;
    const raised = notifies?.of(head, about);
    return {
      businessId,
      nowMs,
      entry: { actor, action, subject, details },
      wakes: wakes?.(about) ?? [],
      ...(raised && { notice: raised }),
      ...(once && { once }),
    };
  };
  return Object.assign(made, {
    ofLines({ by: actor, ...when }: Omit<Head, "subject">, same: Some<D>, of: Lines<D>): Fact {
      return { ...when, entry: { actor, action, subject: "", details: same, of }, wakes: [] };
    },
    action,
    read,
    notifies,
    says(details: unknown): Sentence {
      const known = says && read(details);
      return known === undefined
        ? wordsOf(action, details as Details)
        : { kind: of.kind ?? familyOf(action), text: says?.(known) ?? "" };
    },
  });
}

/** Begins the sentence of a fact without one of its own. */
const FAMILIES: Readonly<Record<string, string>> = {
  line: "Now ",
  alarm: "Alarm: ",
  "cancel-payment": "Cancel of its payment: ",
};

function familyOf(action: string): string {
  return action.split(/[:.]/, 1)[0] ?? action;
}

/** Words an action as it is called in the code. */
export function wordsOf(action: string, details: Details): Sentence {
  const kind = familyOf(action);
  const lead = FAMILIES[kind];
  if (lead !== undefined) {
    const what = action.slice(kind.length + 1);
    return { kind, text: `${lead}${spoken(what)}${why(details, what)}` };
  }
  const words = spoken(action);
  return {
    kind: "recorded",
    text: `${words.charAt(0).toUpperCase()}${words.slice(1)}${why(details)}`,
  };
}

/** Returns a name from the code as words. */
export function spoken(name: string): string {
  return name.replaceAll(/[-._:]/g, " ");
}

/** Says in brackets why something came about. @param said what the text already says */
export function why(details: Details, said?: string): string {
  const { reasonCode, why: reason = details["reason"], code, outcome } = details;
  const given = reasonCode ?? reason ?? code ?? outcome;
  if (given === said) return "";
  return inBrackets(typeof given === "string" && KEBAB.test(given) ? spoken(given) : given);
}

/**
 * Names from the code, such as `run-cancelled`; texts for people and codes like `R08` stay as they
 * are.
 */
const KEBAB = /^[a-z]+(-[a-z]+)+$/;

export function inBrackets(...values: readonly unknown[]): string {
  const said = values.filter((value) => typeof value === "string" || typeof value === "number");
  return said.length === 0 ? "" : ` (${said.join(" ")})`;
}
