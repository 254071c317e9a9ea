// A server that runs on several machines ends by itself if one of them is lost. Then the page says so at once,
// not with the next answer.

import { get, Refused } from "./api.js";
import { ended } from "./saving.js";

const POLL_MS = 2000;

const safe = (log) => `Every answer shown as saved is safe in ${log}. Start the same command again to continue.`;

export async function watchEnd({ ending: { log } }) {
  for (;;) {
    await new Promise((done) => {
      setTimeout(done, POLL_MS);
    });
    try {
      const { ending } = await get("api/state");
      if (!ending.words) continue;
      ended(`${ending.words}. ${safe(log)}`);
    } catch (error) {
      if (error instanceof Refused) continue;
      ended(`poise has ended: it was stopped, or a rank was lost; its terminal says which. ${safe(log)}`);
    }
    return;
  }
}
