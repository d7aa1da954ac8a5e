// What a session is called before people. Pure.

/**
 * A session's name without the hash that keeps rewritten names apart (contract C1); nobody reads that.
 * @param {string} session
 */
export function sessionLabel(session) {
  return session.replace(/-+[0-9a-f]{32}$/, "") || session;
}
