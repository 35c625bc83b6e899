/** `deploy/fitgraph.service`, as systemd reads it. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const unit = path.join(__dirname, '../../deploy/fitgraph.service');

test('systemd finds nothing wrong with the unit', () => {
  const { status, stdout, stderr } = spawnSync(process.env.SYSTEMD_ANALYZE!, ['verify', '--man=no', unit], { encoding: 'utf8' });
  // Of what else is installed on this machine it may complain as it likes.
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('fitgraph'))).toEqual([]);
  expect(status).toBe(0);
});
