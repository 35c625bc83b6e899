/** Documents through relay-compiler, as an application does it with schema.graphql. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../..');
const compiler = path.join(root, 'node_modules/relay-compiler/cli.js');

/** Artifacts come to `src/__generated__` of the folder, as modules of CommonJS where they are JavaScript. */
export function compileForRelay(folder: string, documents: Record<string, string>, language: 'typescript' | 'javascript') {
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), text);
  };
  for (const [name, document] of Object.entries(documents))
    write(`src/${name}.js`, `import { graphql } from 'react-relay';\nexport const document = graphql\`\n${document}\n\`;\n`);
  fs.copyFileSync(path.join(root, 'schema.graphql'), path.join(folder, 'schema.graphql'));
  const schemaConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' };
  write('relay.config.json', JSON.stringify({ src: 'src', schema: 'schema.graphql', language, eagerEsModules: false, schemaConfig }));
  write('package.json', '{}');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '--repersist'], { cwd: folder, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}
