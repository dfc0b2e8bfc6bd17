/** True in `npm run test:long`, which runs the whole of what `npm test` runs in a short form. */
export const isLong = process.env["PAYRUN_TEST_LONG"] === "1";
