// Work of which only the latest request counts: while one is under way, newer requests replace the one that waits.

/** Return request(…), which calls an asynchronous function with the latest arguments, one call at a time. */
export function latest(work, onError) {
  let running = false;
  let waiting = null;
  async function run() {
    running = true;
    while (waiting) {
      const given = waiting;
      waiting = null;
      try {
        await work(...given);
        onError("");
      } catch (error) {
        onError(error.message);
      }
    }
    running = false;
  }
  return (...given) => {
    waiting = given;
    if (!running) run();
  };
}

/** Return request(…), which calls a function once no request has come for some milliseconds. */
export function settled(milliseconds, work) {
  let timer = null;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
}
