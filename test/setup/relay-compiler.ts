/** Runs relay-compiler on documents and schema.graphql, as an application does. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../..');
const compiler = path.join(root, 'node_modules/relay-compiler/cli.js');

/** Writes artifacts to `src/__generated__` in the folder; JavaScript ones are CommonJS modules. */
export function compileForRelay(
  folder: string,
  documents: Record<string, string>,
  language: 'typescript' | 'javascript',
) {
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    fs.writeFileSync(path.join(folder, file), text);
  };

  for (const [name, document] of Object.entries(documents)) {
    write(
      `src/${name}.js`,
      `import { graphql } from 'react-relay';\nexport const document = graphql\`\n${document}\n\`;\n`,
    );
  }

  fs.copyFileSync(path.join(root, 'schema.graphql'), path.join(folder, 'schema.graphql'));
  const schemaConfig = { nodeInterfaceIdField: 'nodeId', nodeInterfaceIdVariableName: 'nodeId' };

  write(
    'relay.config.json',
    JSON.stringify({
      src: 'src',
      schema: 'schema.graphql',
      language,
      eagerEsModules: false,
      schemaConfig,
    }),
  );
  write('package.json', '{}');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '--repersist'], {
    cwd: folder,
    encoding: 'utf8',
  });

  return { status, said: stdout + stderr };
}
