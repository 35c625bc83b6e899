/** Comments, names, messages and guides use the terms of the glossary in CONTRIBUTING.md. A replaced term must not return. */
import fs from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../../..');

/** Replaced terms, each with the one to use. */
const REPLACED: [replaced: RegExp, use: string][] = [
  [/\bstrangers?\b/i, 'anonymous client'],
  [/\bwhoever\b/i, 'name the subject: the client, the caller, the operator'],
  [/\bin vain\b/i, 'say what fails'],
  [/\b(?:turn(?:s|ed)? away|turned down)\b/i, 'rejected, shed'],
  [/\bthe door\b/i, 'admission control'],
  [/\blanes?\b/i, 'concurrency limiter'],
  [/\bpulse\b/i, 'circuit breaker, health check'],
  [/\b(?:is|are|was|were|been|be) told\b/i, 'is notified, is reported, receives'],
  [/\btells? of\b/i, 'reports, describes'],
  [/\b(?:worked|works) out\b/i, 'computed'],
  [/\bas long as it takes\b/i, 'without a timeout'],
  [/\btaken back\b/i, 'rolled back, reverted'],
];

const filesBelow = (folder: string, ending: RegExp) =>
  (fs.readdirSync(path.join(ROOT, folder), { recursive: true }) as string[])
    .filter((file) => ending.test(file))
    .map((file) => path.join(folder, file));

const sources = filesBelow('src', /\.tsx?$/);
const guides = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs', /\.md$/)];

const read = (file: string) => fs.readFileSync(path.join(ROOT, file), 'utf8');

/** TypeScript comments: blocks, and lines that contain nothing else. */
const commentsOf = (text: string) =>
  [...text.matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm)].map(([comment]) => comment);

const proseOf = (text: string) => [text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '')];

const replacedIn = (file: string, texts: readonly string[], terms = REPLACED) =>
  texts.flatMap((text) =>
    terms.flatMap(([replaced, use]) =>
      replaced.test(text) ? [`${file}: "${replaced.exec(text)![0]}" (${use})`] : [],
    ),
  );

test('comments in src use the terms of the glossary', () => {
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.flatMap((file) => replacedIn(file, commentsOf(read(file))))).toEqual([]);
});

/** Further terms that messages and descriptions must not use. Comments may say that the operating system refuses a connection. */
const REPLACED_IN_MESSAGES: typeof REPLACED = [
  ...REPLACED,
  [/\brefused?\b/i, 'rejected'],
  [/\basked for\b/i, 'requested'],
  [/\bhas gone\b/i, 'has disconnected'],
  [/\btoo much to do\b/i, 'overloaded'],
  [/\bone's\b|\bone (?:adds|could|exercised)\b/i, 'the user'],
];

/** Texts of at least three words: messages and descriptions, in quotes or as templates. */
const messagesOf = (text: string) =>
  [
    ...text
      .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
      .matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g),
  ]
    .map(([message]) => message)
    .filter((message) => /\w+ \w+ \w+/.test(message));

test('messages and descriptions use the terms of the glossary', () => {
  const messages = sources.map((file) => [file, messagesOf(read(file))] as const);
  expect(messages.flatMap(([, texts]) => texts).length).toBeGreaterThan(1_500);
  expect(
    messages.flatMap(([file, texts]) => replacedIn(file, texts, REPLACED_IN_MESSAGES)),
  ).toEqual([]);
});

test('guides use the terms of the glossary', () => {
  expect(guides.length).toBeGreaterThan(10);
  expect(guides.flatMap((file) => replacedIn(file, proseOf(read(file))))).toEqual([]);
});

/** Words of names that the glossary replaces. Released migrations keep theirs. */
const REPLACED_IN_NAMES = new Set([
  'lane',
  'lanes',
  'pulse',
  'patience',
  'stranger',
  'strangers',
  'told',
  'asked',
]);

test('names in src use the terms of the glossary', () => {
  const wordsOf = (name: string) =>
    name.split(/_|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  const declaration =
    /\b(?:const|let|function|class|interface|type|private|readonly|get|async)\s+(\w+)|(\w+)\??:\s/g;
  const codeOf = (file: string) => read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = sources
    .filter((file) => !file.includes('migrations'))
    .flatMap((file) =>
      [...codeOf(file).matchAll(declaration)].map(
        ([, declared, member]) => [file, (declared ?? member)!] as const,
      ),
    );
  expect(found.length).toBeGreaterThan(5_000);
  expect(
    found
      .filter(([, name]) => wordsOf(name).some((word) => REPLACED_IN_NAMES.has(word)))
      .map((where) => where.join(': ')),
  ).toEqual([]);
});

test('exported names in src are not bare participles', () => {
  const participle =
    /^(?:shown|told|given|asked|refused|quoted|known|left|begun|held|meant|made|found|kept|taken|drawn|sent|seen|answered|called|named|listed)$/;
  const exported = sources.flatMap((file) =>
    [
      ...read(file).matchAll(
        /^export (?:async )?(?:function\*?|const|class|interface|type|let) (\w+)/gm,
      ),
    ].map(([, name]) => [file, name!] as const),
  );
  expect(exported.length).toBeGreaterThan(1_000);
  expect(
    exported
      .filter(([, name]) => participle.test(name.toLowerCase()))
      .map(([file, name]) => `${file}: ${name}`),
  ).toEqual([]);
});

/** Names of other programs, and placeholders, that comments mention in backticks. */
const FOREIGN_NAMES = new Set(
  '_0 _1 XConnection XEdge XGroupBy XGroupField XListFilter XOrder XWhere SimpleMetadata belongsTo belongsToMany bulkCreate created_on date__gte de_AT microCropped parse quote_plus shouldUpgradeCallback some_action steal streamx traceparent urllib'.split(
    ' ',
  ),
);

test('names in backticks in comments of src exist', () => {
  const everything = [...sources, ...filesBelow('scripts', /\.mjs$/), 'schema.graphql'];
  const code = everything
    .map((file) => read(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''))
    .join('\n');
  const names = new Set(code.match(/[A-Za-z_$][\w$]*/g));
  const missing = sources.flatMap((file) =>
    commentsOf(read(file)).flatMap((comment) =>
      [...comment.matchAll(/`([A-Za-z_$][\w$.]*)`/g)]
        .flatMap(([, name]) => name!.split('.').filter(Boolean))
        .filter((name) => !names.has(name) && !FOREIGN_NAMES.has(name))
        .map((name) => `${file}: ${name}`),
    ),
  );
  expect(missing).toEqual([]);
});
