// Which session does a thread belong to? The JavaScript twin of `windowseat.rules.names.session_name`
// (contract C1). One test holds both against the same cases. Works in pages and in Node: SHA-256
// comes from Web Crypto, so the answer is a promise.

const CLEAN_ID = /^[A-Za-z0-9_-]+$/;
const PREFIX = /^[A-Za-z0-9_-]{0,16}$/;
const LOOKS_REWRITTEN = /-[0-9a-f]{32}$/;
const NAME_LIMIT = 64;
const KEPT_LENGTH = 31;
const DIGEST_LENGTH = 32;

/**
 * Whether a name lies in the grammar of session names.
 * @param {string} name
 * @returns {boolean}
 */
export function isSessionName(name) {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name);
}

/**
 * The session of the thread `threadId` of the app whose prefix is `prefix`.
 * @param {string} prefix at most 16 characters of the grammar
 * @param {string} threadId
 * @returns {Promise<string>}
 */
export async function sessionName(prefix, threadId) {
  if (!PREFIX.test(prefix)) {
    throw new RangeError(`${JSON.stringify(prefix)} is no session prefix`);
  }
  const clean = CLEAN_ID.test(threadId) && prefix.length + threadId.length <= NAME_LIMIT;
  // A clean id must not pose as the rewritten name of another one.
  if (clean && !LOOKS_REWRITTEN.test(threadId)) {
    return prefix + threadId;
  }
  // Without the flag `u` the class matches single UTF-16 code units, as the contract wants.
  const kept = (prefix + threadId.replace(/[^A-Za-z0-9_-]/g, "-")).slice(0, KEPT_LENGTH);
  // TextEncoder writes a lone surrogate as U+FFFD.
  const bytes = new TextEncoder().encode(threadId);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${kept}-${hex.slice(0, DIGEST_LENGTH)}`;
}
