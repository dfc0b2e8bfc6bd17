import { runCli } from "./program.ts";

// `payrun report … | head` closes the pipe early: that is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

// Work that Ctrl-C has cut off may still hold timers and sockets.
process.exit(await runCli(process.argv.slice(2)));
