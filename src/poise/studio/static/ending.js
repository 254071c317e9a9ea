// A server that runs on several machines ends by itself if one of them is lost. Then the page says so at once,
// not with the next answer.

import { get, Refused } from "./api.js";
import { ended } from "./saving.js";

const POLL_MS = 2000;
// A refused connection is tried again: what tells the reason needs a moment to start.
const TRIES = 2;

const safe = (log) => `Every answer shown as saved is safe in ${log}. Start the same command again to continue.`;

export async function watchEnd({ ending: { log } }) {
  for (let tries = 0; ; ) {
    await new Promise((done) => {
      setTimeout(done, POLL_MS);
    });
    try {
      const { ending } = await get("api/state");
      if (!ending.words) continue;
      ended(`${ending.words} ${safe(log)}`);
    } catch (error) {
      if (error instanceof Refused ? !error.body.ended : ++tries < TRIES) continue;
      if (error instanceof Refused) ended(`${error.message} ${safe(log)}`);
      else ended(`poise has ended: it was stopped, or a rank was lost; its terminal says which. ${safe(log)}`);
    }
    return;
  }
}
