import { spawn } from "node:child_process";

/**
 * @typedef {object} Outcome
 * @property {boolean} ok true if it ran and ended with 0
 * @property {string} stdout
 * @property {string} stderr
 * @property {string} why one line about a failure; empty if there was none
 */

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
const KEPT_CHARACTERS = 1_000_000;

/**
 * Runs a command to its end. The command gets a process group of its own, so that a time-out or a
 * Ctrl-C also ends the processes that it has started.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {object} [options]
 * @param {Readonly<Record<string, string | undefined>>} [options.env]
 * @param {string} [options.cwd]
 * @param {number} [options.timeoutMs]
 * @returns {Promise<Outcome>}
 */
export function runCommand(command, args, options = {}) {
  const { env, cwd, timeoutMs = 10 * 60_000 } = options;
  return new Promise((resolve) => {
    const isWindows = process.platform === "win32";
    const child = spawn(command, args, {
      cwd,
      env: /** @type {NodeJS.ProcessEnv} */ (env ?? process.env),
      stdio: ["ignore", "pipe", "pipe"],
      detached: !isWindows,
      // npm is a .cmd file on Windows, which only a shell can start.
      shell: isWindows && !command.endsWith(".exe"),
    });
    let stdout = "";
    let stderr = "";
    let reason = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout = tail(stdout + text)));
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr = tail(stderr + text)));

    /** @param {NodeJS.Signals} signal */
    const kill = (signal) => {
      try {
        if (child.pid && !isWindows) process.kill(-child.pid, signal);
        else child.kill(signal);
      } catch {
        // It has ended in the meantime.
      }
    };
    /** @param {string} why */
    const stop = (why) => {
      reason ||= why;
      kill("SIGKILL");
    };
    const timer = setTimeout(() => stop(`it did not end within ${seconds(timeoutMs)}`), timeoutMs);
    const interrupt = forwardSignals(kill);
    /** @param {number | null} code @param {string} failure */
    const end = (code, failure) => {
      clearTimeout(timer);
      interrupt.remove();
      const ok = code === 0 && reason === "";
      resolve({ ok, stdout, stderr, why: ok ? "" : reason || failure || reasonIn(stderr, code) });
    };
    child.once("error", (error) => end(null, error.message));
    child.once("close", (code) => end(code, ""));
  });
}

/** @param {(signal: NodeJS.Signals) => void} kill */
function forwardSignals(kill) {
  const listeners = SIGNALS.map((signal) => {
    const listener = () => {
      kill("SIGKILL");
      remove();
      process.kill(process.pid, signal);
    };
    process.once(signal, listener);
    return { signal, listener };
  });
  const remove = () => {
    for (const { signal, listener } of listeners) process.removeListener(signal, listener);
  };
  return { remove };
}

/** @param {string} text */
function tail(text) {
  return text.length > KEPT_CHARACTERS ? text.slice(-KEPT_CHARACTERS) : text;
}

/**
 * Returns the most informative line of a failure: not the stack trace, nor the path of npm's log.
 *
 * @param {string} stderr
 * @param {number | null} code
 */
function reasonIn(stderr, code) {
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(at |Node\.js v|npm error A complete log)/.test(line));
  const npm = lines.filter((line) => line.startsWith("npm error ")).slice(0, 2);
  if (npm.length > 0) return npm.map((line) => line.slice("npm error ".length)).join(", ");
  return (
    lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? `ended with code ${code}`
  );
}

/** @param {number} ms */
export function seconds(ms) {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}
