/** Passwords: hashed, checked, replaced where the hash is an old one. */
import { pbkdf2Sync } from 'node:crypto';
import { checkPassword } from '../../src/auth/accounts';
import { hashPassword, verifyPassword } from '../../src/auth/passwords';

const django = (password: string, iterations = 1000, salt = 'abcdefgh') =>
  `pbkdf2_sha256$${iterations}$${salt}$${pbkdf2Sync(password, salt, iterations, 32, 'sha256').toString('base64')}`;

test('a new hash is argon2id, never the same twice, and fits its password alone', async () => {
  const [one, two] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(one).toMatch(/^\$argon2id\$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword(one, 'correct horse')).toEqual({ valid: true, outdated: false });
  expect(await verifyPassword(one, 'correct horsf')).toEqual({ valid: false, outdated: false });
});

test('an imported hash fits too, and is to be replaced', async () => {
  expect(await verifyPassword(django('correct horse'), 'correct horse')).toEqual({ valid: true, outdated: true });
  expect(await verifyPassword(django('correct horse'), 'wrong horse')).toMatchObject({ valid: false });
});

test.each([
  ['nobody', undefined],
  ['an unusable password', '!abcdef'],
  ['an empty hash', ''],
  ['plain text', 'correct horse'],
  ['another algorithm', 'md5$salt$0123'],
  ['no iterations', 'pbkdf2_sha256$x$salt$AAAA'],
  ['a short digest', 'pbkdf2_sha256$1000$salt$AAAA'],
  ['missing parts', 'pbkdf2_sha256$1000'],
])('%s has no password that fits', async (_what, stored) => {
  expect(await verifyPassword(stored, 'correct horse')).toMatchObject({ valid: false });
});

test.each(['1234567', '', '12345678', '00000000000000'])('%j is no password to set', (password) => {
  expect(() => checkPassword(password)).toThrow(/password must/);
});

test('eight characters with a letter among them are one', () => {
  expect(() => checkPassword('1234567a')).not.toThrow();
});
