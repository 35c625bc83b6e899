/** Lets Node.js load the TypeScript of `src` in processes that the tested code starts. */
const { readFileSync } = require('node:fs');

require.extensions['.ts'] = (module, filename) => {
  // Loaded on first use, because most processes do not need it.
  const { transformSync } = require('@swc/core');
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
    module: { type: 'commonjs' },
  });

  module._compile(code, filename);
};
