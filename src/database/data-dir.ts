/**
 * Validates DATA_DIR before anything is written: an existing folder with files of other programs is
 * rejected.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../shared/config';

/**
 * Names of all files and folders that Fitgraph creates in DATA_DIR. `run`, `lock.…` and `claim-…`
 * are from earlier releases.
 */
const FITGRAPH_DIR_ENTRY_PATTERNS = [
  ...[
    /^(?:location|run|socket|postgres|media|incoming|upgrade(?:\.tar\.gz(?:\.[0-9a-f]{8}\.part)?)?)$/,
    /^postgres\.(?:new-[0-9a-f]{1,8}|log|log\.old|\d{1,3})$/,
  ],
  ...[
    /^binaries-[\w.-]{1,100}$/,
    /^(?:lock\.\d{1,15}|claim-[0-9a-f]{12})$/,
    /^secret-key(?:\.[\w-]{1,60})?$/,
  ],
];

/**
 * Files and folders that a new DATA_DIR may already contain, because file systems, desktops and
 * version control create them.
 */
const IGNORED_DIR_ENTRIES = ['lost+found', '.gitkeep', '.gitignore', '.keep', '.DS_Store'];

/** Files that identify a folder as a data folder of Fitgraph, even beside foreign files. */
const DATA_DIR_MARKER_FILES = ['secret-key', 'location', path.join('postgres', 'PG_VERSION')];

const rejectDataDir = (dataDir: string, problem: string): never => {
  throw new ConfigError(`DATA_DIR: ${dataDir} ${problem}`);
};

/** Rejects a folder that cannot be used as DATA_DIR. A missing folder is accepted. */
export function checkDataDir(dataDir: string): void {
  let stats: fs.Stats | undefined;
  let names: string[] = [];

  try {
    stats = fs.statSync(dataDir, { throwIfNoEntry: false });

    if (stats?.isDirectory()) {
      names = fs.readdirSync(dataDir);
      fs.accessSync(dataDir, fs.constants.W_OK | fs.constants.X_OK);
    }
  } catch (error) {
    rejectDataDir(dataDir, `cannot be used: ${(error as Error).message}`);
  }

  if (!stats) return;

  if (!stats.isDirectory()) {
    rejectDataDir(
      dataDir,
      'is not a folder: choose an empty folder or one that does not exist yet',
    );
  }

  if (DATA_DIR_MARKER_FILES.some((entry) => fs.existsSync(path.join(dataDir, entry)))) return;
  const foreignEntries = names.filter(
    (name) =>
      !IGNORED_DIR_ENTRIES.includes(name) &&
      !FITGRAPH_DIR_ENTRY_PATTERNS.some((pattern) => pattern.test(name)),
  );

  if (foreignEntries.length) {
    rejectDataDir(
      dataDir,
      `contains other files (${foreignEntries.slice(0, 3).join(', ')}…): choose an empty folder or one that does not exist yet`,
    );
  }
}
