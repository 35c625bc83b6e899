/**
 * Measures the duration and memory of an import of IMPORT_ROWS (100,000) rows of logs and
 * ingredients into a new embedded database. Fails above 10 s per 100,000 rows, or above 200 MB for
 * any number of rows.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const ROWS = Number(process.env.IMPORT_ROWS ?? 100_000);
const MAX_SECONDS = 10 * Math.max(1, ROWS / 100_000);
const MAX_MB = 200;
const commands = fileURLToPath(new URL('../dist/src/cli/index.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fitgraph-import-'));
const env = { PATH: process.env.PATH, DATA_DIR: join(folder, 'data') };
const file = join(folder, 'dump.json');

try {
  await write();
  const { status, stderr } = spawnSync(process.execPath, [commands, 'seed'], {
    env,
    encoding: 'utf8',
  });

  if (status !== 0) throw new Error(stderr);
  const began = performance.now();
  const child = spawn(process.execPath, [commands, 'import', file], { env, stdio: 'inherit' });
  let kilobytes = 0;
  const look = setInterval(() => {
    try {
      kilobytes = Number(
        /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? kilobytes,
      );
    } catch {
      // The process has ended, or the system has no /proc.
    }
  }, 20);
  const ended = await new Promise((resolve) => child.once('exit', resolve));

  clearInterval(look);
  const seconds = (performance.now() - began) / 1000;
  const megabytes = kilobytes / 1024;

  console.log(`import: ${ROWS} rows in ${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB`);
  if (ended !== 0 || seconds > MAX_SECONDS || megabytes > MAX_MB) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function write() {
  const out = createWriteStream(file);

  const add = async (row, first = false) => {
    if (!out.write(`${first ? '[' : ','}\n${JSON.stringify(row)}`)) {
      await new Promise((resolve) => out.once('drain', resolve));
    }
  };

  const user = {
    username: 'import',
    password: 'none',
    email: '',
    is_active: true,
    date_joined: '2021-01-01T00:00:00Z',
  };

  await add({ model: 'auth.user', pk: 1_000_000, fields: user }, true);
  await add({
    model: 'manager.workout',
    pk: 1_000_000,
    fields: { creation_date: '2021-01-01', comment: '', user: 1_000_000 },
  });
  const logs = {
    user: 1_000_000,
    workout: 1_000_000,
    reps: 8,
    repetition_unit: 1,
    weight: '80.00',
    weight_unit: 1,
    rir: '2',
  };
  const food = {
    status: '2',
    creation_date: '2021-01-01',
    update_date: '2021-01-01',
    license: 2,
    license_author: '',
    language: 2,
  };

  for (let number = 0; number < ROWS - 2; number += 1) {
    const pk = 2_000_000 + number;
    const date = `2021-0${1 + (number % 9)}-${String(1 + (number % 28)).padStart(2, '0')}`;

    if (number % 4) {
      await add({
        model: 'manager.workoutlog',
        pk,
        fields: { ...logs, exercise: 1 + (number % 50), date },
      });
    } else {
      const values = { energy: 100, protein: '10.000', carbohydrates: '10.000', fat: '1.000' };

      await add({
        model: 'nutrition.ingredient',
        pk,
        fields: { ...food, ...values, name: `Ingredient number ${number}` },
      });
    }
  }

  await new Promise((resolve) => out.end('\n]\n', resolve));
}
