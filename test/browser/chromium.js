/** Where the browser of the browser tests is. */
const { accessSync, constants } = require('node:fs');

const USUAL = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const runs = (file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Its path, or undefined where there is none. */
module.exports.chromium = () => {
  const { CHROMIUM } = process.env;
  if (CHROMIUM && !runs(CHROMIUM)) throw new Error(`CHROMIUM names no program: ${CHROMIUM}`);
  return CHROMIUM || USUAL.find(runs);
};
