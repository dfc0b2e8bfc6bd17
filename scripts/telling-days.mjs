import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inCheckout } from "./setup/set-up.mjs";

/**
 * Instants at which calendars surprise, in addition to those below: 40 in total. Files begin within
 * seconds of their day's instant.
 */
const DATED_DAYS = [
  ["2026-08-31T15:00:00Z", "the last day of a month, a Monday"],
  ["2026-09-30T15:00:00Z", "the last day of a quarter"],
  ["2026-10-12T15:00:00Z", "Columbus Day"],
  ["2026-10-14T03:59:00Z", "11:59 PM in New York, a Tuesday"],
  ["2026-10-14T23:30:00Z", "the last hour of a UTC day"],
  ["2026-10-15T00:00:30Z", "the first minute of a UTC day"],
  ["2026-10-16T12:59:00Z", "just before the cut-off, a Friday"],
  ["2026-10-16T13:00:30Z", "just after the cut-off, a Friday"],
  ["2026-10-16T20:59:00Z", "the end of a Friday"],
  ["2026-10-19T03:59:00Z", "Sunday 11:59 PM in New York: the last minute of a week"],
  ["2026-10-19T04:00:30Z", "the first minute of a week"],
  ["2026-10-31T16:00:00Z", "a month's end on a Saturday"],
  ["2026-11-01T05:59:00Z", "just before clocks go back"],
  ["2026-11-01T06:30:00Z", "the hour that happens twice"],
  ["2026-11-11T16:00:00Z", "Veterans Day"],
  ["2026-11-25T16:00:00Z", "the Wednesday before Thanksgiving"],
  ["2026-11-26T16:00:00Z", "Thanksgiving"],
  ["2026-11-27T16:00:00Z", "the Friday after Thanksgiving"],
  ["2026-11-29T16:00:00Z", "a Sunday"],
  ["2026-12-24T21:55:00Z", "the afternoon before Christmas"],
  ["2026-12-25T16:00:00Z", "Christmas, a Friday"],
  ["2026-12-26T16:00:00Z", "the Saturday after it"],
  ["2027-01-01T04:59:00Z", "the last minute of a year in New York"],
  ["2027-01-01T16:00:00Z", "New Year's Day"],
  ["2027-01-18T16:00:00Z", "Martin Luther King Jr. Day"],
  ["2027-02-15T16:00:00Z", "Presidents' Day"],
  ["2027-02-28T16:00:00Z", "February's end, a Sunday"],
  ["2027-03-13T16:00:00Z", "the Saturday before clocks go forward"],
  ["2027-03-14T06:59:00Z", "just before clocks go forward"],
  ["2027-03-14T15:00:00Z", "the day of 23 hours"],
  ["2027-05-31T15:00:00Z", "Memorial Day, a month's end"],
  ["2027-06-18T15:00:00Z", "the Friday before a holiday on a Saturday: banks work"],
  ["2027-07-05T15:00:00Z", "the Monday of a holiday on a Sunday"],
  ["2027-09-06T15:00:00Z", "Labor Day"],
  ["2027-12-31T16:00:00Z", "a year's end before a holiday on a Saturday"],
  ["2028-02-29T04:59:00Z", "the last minute before 29 February in New York"],
  ["2028-03-01T04:59:00Z", "the last minute of 29 February in New York"],
];

const DAY_MS = 86_400_000;

/** On these days every test runs that needs no Temporal server. */
const DAYS_OF_EVERYTHING = [
  ["2026-11-29T04:50:00Z", "a Saturday's last minutes in New York"],
  ["2026-12-31T23:30:00Z", "the last hour of a UTC year"],
  ["2028-02-29T16:00:00Z", "29 February"],
];

/**
 * Matches tests that derive a date from today's, or let a few of the bank's days pass: a span of a
 * week or more ends the same way whichever days it covers. Other tests that read the clock store an
 * instant, for which the calendar doesn't matter. Both kinds run on the days of everything.
 */
const MAKES_A_DATE =
  /\binDays\(|\.slice\(0, 10\)|\bnewYorkDa(?:y|te)\(|\bbankDate\(|\badvance\("P[1-6]D|Temporal\.Now|\bSOON\b/;
/** Matches tests whose bank begins each of them on the same Monday, whatever the machine's day is. */
const OWN_DAY = /\bmondayTest\(|\bsetClock\(monday\)/;
/**
 * In these tests, code that reads the clock only measures or creates files, or gets its days from
 * the test: README's first playbook goes through a whole year.
 */
const NO_CALENDAR = /^test\/(?:(?:attacks|domain|setup|simulation)\/|docs\/first-playbook\.test)/;
/**
 * In these tests days only pass until something is over, or a date is some days ahead or printed,
 * and it doesn't matter which days. The days of everything are enough.
 */
const ANY_DAYS = [
  "activities/cancel/cancel-odd-answers",
  "activities/notify/(?:late-payments|unread-service)",
  "activities/pay/released-claims",
  "activities/runs/(?:agreement|explain|explain-ways|no-digits|paid-in-part)",
  "console/(?:bills|holds|stops)",
  "gateway/(?:releases|reports|stops)",
  "janitor/late-changes",
  "payments-api/whole-service",
  "reports/paid-outside",
  "sandbox/(?:auth|banking-days|control|idempotency|idempotency-replays|restart)",
  "sandbox/(?:balance/books|spec-money|state-refusals)",
].map((files) => new RegExp(`^test/${files}\\.test`));
/**
 * The bank of these tests starts on one ordinary Monday; other parts of them run on the machine's
 * day.
 */
const ON_REAL_DAYS = /^test\/(?:actions\/(?:launch|schedules)|cli|e2e|replay|worker|workflows)\//;

/**
 * Returns what runs on which telling day; what takes longest is first.
 *
 * @returns {{ now: string, what: string, files: string[] }[]} `files` is empty if all tests run
 */
export function tellingDays() {
  const everything = DAYS_OF_EVERYTHING.map(([now = "", what = ""]) => ({
    now,
    what: `${what}: everything outside Temporal`,
    files: [],
  }));
  const files = testsThatReadADate(testFiles());
  const dated = DATED_DAYS.map(([now = "", what = ""]) => ({ now, what, files }));
  // Another one is first each day, since a slow machine has no time for the last ones.
  const first = Math.floor(Date.now() / DAY_MS) % dated.length;
  return [...everything, ...dated.slice(first), ...dated.slice(0, first)];
}

/**
 * Returns the test files that derive a date from the day on which they run.
 *
 * @param {readonly string[]} files paths inside the checkout
 * @returns {string[]}
 */
function testsThatReadADate(files) {
  return files.filter((file) => {
    if (NO_CALENDAR.test(file) || ON_REAL_DAYS.test(file)) return false;
    if (ANY_DAYS.some((files) => files.test(file))) return false;
    const text = readFileSync(inCheckout(file), "utf8");
    return MAKES_A_DATE.test(text) && !OWN_DAY.test(text);
  });
}

/** @returns {string[]} every test file, as a path inside the checkout */
export function testFiles() {
  return readdirSync(inCheckout("test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => join("test", file));
}
