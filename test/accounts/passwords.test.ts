/** Password hashing, verification and rules. */
import { pbkdf2Sync } from 'node:crypto';
import { checkPasswordPolicy } from '../../src/accounts/accounts';
import { hashPasswordNow, verifyPassword } from '../../src/accounts/passwords';

const django = (password: string, iterations = 1000, salt = 'abcdefgh') =>
  `pbkdf2_sha256$${iterations}$${salt}$${pbkdf2Sync(password, salt, iterations, 32, 'sha256').toString('base64')}`;

test('hashes with argon2id and a random salt, and verifies only the right password', async () => {
  const [one, two] = await Promise.all([
    hashPasswordNow('correct horse'),
    hashPasswordNow('correct horse'),
  ]);

  expect(one).toMatch(/^\$argon2id\$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword(one, 'correct horse')).toEqual({
    isValid: true,
    isHashOutdated: false,
  });
  expect(await verifyPassword(one, 'correct horsf')).toEqual({
    isValid: false,
    isHashOutdated: false,
  });
});

test('verifies an imported hash and reports it as outdated', async () => {
  expect(await verifyPassword(django('correct horse'), 'correct horse')).toEqual({
    isValid: true,
    isHashOutdated: true,
  });
  expect(await verifyPassword(django('correct horse'), 'wrong horse')).toMatchObject({
    isValid: false,
  });
});

test.each([
  ['an unknown user', undefined],
  ['an unusable password', '!abcdef'],
  ['an empty hash', ''],
  ['a password in plain text', 'correct horse'],
  ['a hash of another algorithm', 'md5$salt$0123'],
  ['a hash without iterations', 'pbkdf2_sha256$x$salt$AAAA'],
  ['a hash with a short digest', 'pbkdf2_sha256$1000$salt$AAAA'],
  ['a hash with missing parts', 'pbkdf2_sha256$1000'],
])('verifies no password for %s', async (_what, stored) => {
  expect(await verifyPassword(stored, 'correct horse')).toMatchObject({ isValid: false });
});

test.each(['1234567', '', '12345678', '00000000000000'])(
  'rejects %j as a new password',
  (password) => {
    expect(() => checkPasswordPolicy(password)).toThrow(/password must/);
  },
);

test('accepts eight characters that include a letter', () => {
  expect(() => checkPasswordPolicy('1234567a')).not.toThrow();
});
