import { linkMade, sessionEnded, sessionOpened } from "../../domain/facts/access.ts";
import type { Head } from "../../domain/facts/fact.ts";
import { record } from "../facts/record.ts";
import { isoInstant } from "../../domain/clock/instants.ts";
import { type Author, kindOfAuthor, nameOfAuthor } from "../../contracts/authors.ts";
import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { HOUR_MS } from "../../contracts/durations.ts";
import {
  type KeptForm,
  SESSION_HOURS,
  type SessionHolder,
  sessionProblem,
  type SessionView,
  SIGN_IN_LINK_MINUTES,
  type SignInWay,
} from "../../domain/approvals/session.ts";
import { differsFromTrail } from "../audit/audit-compare.ts";
import { STORE_TRAIL } from "../audit/audit.ts";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, deleteRecords, findAll, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";
import { hashOfSecret, newSecret } from "./secrets.ts";
import { lastUses } from "./uses.ts";

/** A person who is signed in at the console; the secret of their cookie is stored nowhere. */
export type Session = Omit<RecordOf<"sessions">, "sessionHash">;

/** Who has proved who they are, and how. */
export interface SignIn {
  readonly holder: SessionHolder;
  readonly name: string;
  readonly way: SignInWay;
  /** When they proved it. */
  readonly signedInAtMs: number;
}

/**
 * Makes a link's code, which signs its bearer in once, within ten minutes.
 *
 * @returns the code in clear text, only this once, and when it expires
 */
export async function makeSignInLink(
  trx: Transaction<Tables>,
  signIn: SignIn,
  nowMs: number,
): Promise<{ code: string; expiresAtMs: number }> {
  const code = newSecret("");
  const expiresAtMs = Math.floor(nowMs) + SIGN_IN_LINK_MINUTES * 60_000;
  const row = asColumns({ codeHash: hashOfSecret(code), ...rowOf(signIn), expiresAtMs });
  await trx.insertInto("sign_in_links").values(row).execute();
  const { holder, name, way } = signIn;
  const made = { code: hashOfSecret(hashOfSecret(code)), way, expiresAtMs };
  await record(trx, linkMade(headOf(subjectOf(holder), name, nowMs), made));
  return { code, expiresAtMs };
}

/**
 * Returns the sign-in that a link's code stands for, only this once; undefined if the code was used
 * before or has expired.
 */
export async function useSignInLink(
  trx: Transaction<Tables>,
  code: string,
  nowMs: number,
): Promise<SignIn | undefined> {
  const codeHash = hashOfSecret(code);
  const link = await findOne(trx, "sign_in_links", { codeHash });
  const whose = link === undefined ? "" : subjectOf(holderOf(link));
  // Somebody may have written it into the table.
  if (await differsFromTrail(trx, "sign_in_links", codeHash, whose)) return undefined;
  // If two requests use it at once, only one of them deletes it.
  const isMine = (await deleteRecords(trx, "sign_in_links", { codeHash })) > 0;
  if (link === undefined || !isMine || link.expiresAtMs <= nowMs) return undefined;
  const { name, way, signedInAtMs } = link;
  return { holder: holderOf(link), name, way, signedInAtMs };
}

/**
 * Opens a session.
 *
 * @param endsAtMs when its token ends, if that is before a session's own end
 * @returns `secret` in clear text, only this once
 */
export async function openSession(
  trx: Transaction<Tables>,
  signIn: SignIn,
  {
    nowMs,
    from,
    endsAtMs,
    keptForm,
  }: { nowMs: number; from: string; endsAtMs: number | undefined; keptForm: KeptForm | null },
): Promise<{ session: Session; secret: string }> {
  const secret = newSecret("session_");
  const longestMs = Math.floor(nowMs) + SESSION_HOURS * HOUR_MS;
  const session: Session = {
    sessionId: `ses_${randomUUID()}`,
    ...rowOf(signIn),
    expiresAtMs: Math.min(longestMs, endsAtMs ?? longestMs),
    endedAtMs: null,
    endedBy: null,
    endedByKind: null,
    keptForm,
  };
  const row = asColumns({ ...session, sessionHash: hashOfSecret(secret) });
  await trx.insertInto("sessions").values(row).execute();
  const { tokenId, issuer, subject, businesses, expiresAtMs } = session;
  const whose = tokenId === null ? { issuer, subject, businesses } : { tokenId };
  const fingerprint = { secret: hashOfSecret(hashOfSecret(secret)) };
  const details = { way: signIn.way, ...whose, from, expiresAtMs, ...fingerprint };
  await record(trx, sessionOpened(headOf(session.sessionId, signIn.name, nowMs), details));
  return { session, secret };
}

/** Returns the session with this secret, even if it has ended. */
export async function findSession(db: Db, secret: string): Promise<Session | undefined> {
  return withoutHash(await findOne(db, "sessions", { sessionHash: hashOfSecret(secret) }));
}

/** Stores what the person has filled in, in place of what was kept before. */
export async function keepForm(db: Db, sessionId: string, keptForm: KeptForm): Promise<void> {
  await changeRecords(db, "sessions", { sessionId, endedAtMs: null }, { keptForm });
}

/** Ends a session at once; does nothing if it has ended. */
export async function endSession(
  trx: Transaction<Tables>,
  { sessionId, name }: Pick<Session, "sessionId" | "name">,
  { by, nowMs }: { readonly by: Author; readonly nowMs: number },
): Promise<void> {
  const endedBy = { endedBy: nameOfAuthor(by), endedByKind: kindOfAuthor(by) };
  const change = { endedAtMs: Math.floor(nowMs), ...endedBy };
  const done = await changeRecords(trx, "sessions", { sessionId, endedAtMs: null }, change);
  if (done > 0) await record(trx, sessionEnded(headOf(sessionId, by, nowMs), { name }));
}

/**
 * Ends the sessions that were opened with a token, and deletes the links that were made with it.
 */
export async function endSessionsOfToken(
  trx: Transaction<Tables>,
  tokenId: string,
  deed: { readonly by: Author; readonly nowMs: number },
): Promise<void> {
  await deleteRecords(trx, "sign_in_links", { tokenId });
  for (const open of await findAll(trx, "sessions", { tokenId, endedAtMs: null }, ["session_id"])) {
    await endSession(trx, open, deed);
  }
}

/** Returns all sessions as people see them, the latest sign-in first. */
export async function viewSessions(db: Db, nowMs: number): Promise<SessionView[]> {
  const uses = await lastUses(db);
  const all = await findAll(db, "sessions", {}, ["signed_in_at_ms", "session_id"]);
  return all.toReversed().map((session) => ({
    id: session.sessionId,
    name: session.name,
    way: session.way,
    tokenId: session.tokenId,
    issuer: session.issuer,
    subject: session.subject,
    businesses: session.businesses === null ? null : [...session.businesses],
    state: sessionProblem(session, nowMs) ?? "valid",
    signedInAt: isoInstant(session.signedInAtMs),
    expiresAt: isoInstant(session.expiresAtMs),
    endedAt: session.endedAtMs === null ? null : isoInstant(session.endedAtMs),
    endedBy: session.endedBy,
    lastUsedAt: isoOf(uses.get(session.sessionId)),
  }));
}

/**
 * Deletes links that were never used, and sessions that expired before an instant: the trail keeps
 * them.
 */
export async function pruneSessions(trx: Transaction<Tables>, beforeMs: number): Promise<void> {
  await trx.deleteFrom("sign_in_links").where("expires_at_ms", "<", beforeMs).execute();
  const old = trx.selectFrom("sessions").select("session_id").where("expires_at_ms", "<", beforeMs);
  await trx.deleteFrom("token_uses").where("token_id", "in", old).execute();
  await trx.deleteFrom("sessions").where("expires_at_ms", "<", beforeMs).execute();
}

const isoOf = (ms: number | undefined) => (ms === undefined ? null : isoInstant(ms));

function rowOf({ holder, name, way, signedInAtMs }: SignIn) {
  const none = { tokenId: null, issuer: null, subject: null, businesses: null };
  return { ...none, ...holder, name, way, signedInAtMs: Math.floor(signedInAtMs) };
}

/** Returns the holder of a row. */
export function holderOf({
  tokenId,
  issuer,
  subject,
  businesses,
}: Pick<Session, "tokenId" | "issuer" | "subject" | "businesses">): SessionHolder {
  if (tokenId !== null) return { tokenId };
  return { issuer: issuer ?? "", subject: subject ?? "", businesses: businesses ?? [] };
}

function subjectOf(holder: SessionHolder): string {
  return "tokenId" in holder ? holder.tokenId : `${holder.issuer} ${holder.subject}`;
}

function headOf(subject: string, by: Author, nowMs: number): Head {
  return { businessId: STORE_TRAIL, nowMs, by, subject };
}

function withoutHash(found: RecordOf<"sessions"> | undefined): Session | undefined {
  if (found === undefined) return undefined;
  const { sessionHash: _, ...session } = found;
  return session;
}
