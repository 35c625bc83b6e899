/** `deploy/fitgraph.service`, checked by systemd. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const unit = path.join(__dirname, '../../../deploy/fitgraph.service');

test('systemd reports no problems with the unit', () => {
  const { status, stdout, stderr } = spawnSync(
    process.env.SYSTEMD_ANALYZE!,
    ['verify', '--man=no', unit],
    { encoding: 'utf8' },
  );

  // Ignores messages about other units on this machine.
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('fitgraph'))).toEqual([]);
  expect(status).toBe(0);
});

test('commands in the guide use the user and environment of the unit', () => {
  const text = fs.readFileSync(unit, 'utf8');
  const guide = fs.readFileSync(path.join(__dirname, '../../../docs/deploying.md'), 'utf8');
  const shell = /^set -a; .*$/m.exec(guide)![0];
  const [, environment] = /^Environment=(.*)$/m.exec(text)!;

  for (const name of ['NODE_ENV', 'DATA_DIR']) {
    expect(shell).toContain(`; ${environment!.split(' ').find((one) => one.startsWith(name))!};`);
  }

  expect(shell).toContain(`. ${/^EnvironmentFile=(.*)$/m.exec(text)![1]!};`);
  expect(guide).toContain(`runuser -u ${/^User=(.*)$/m.exec(text)![1]!} -- fitgraph user create`);
});
