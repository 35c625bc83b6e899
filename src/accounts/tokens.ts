/**
 * API keys, looked up by SHA-256 digest and stored encrypted (AES-256-GCM) with a key derived from
 * SECRET_KEY. A sign-in can therefore return the existing API key, but a stolen database reveals
 * none.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

const ENCRYPTION_ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const AUTHENTICATION_TAG_BYTES = 16;

export const generateApiKey = (): string => randomBytes(20).toString('hex');
export const sha256 = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Encrypts and signs with keys derived from SECRET_KEY: API keys, CSRF tokens, and responses stored
 * for idempotency keys.
 */
export class TokenVault {
  private readonly encryptionKey: Buffer;
  private readonly signingKey: Buffer;

  constructor(secretKey: string) {
    const deriveKey = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32));

    this.encryptionKey = deriveKey('fitgraph tokens');
    this.signingKey = deriveKey('fitgraph signatures');
  }

  /** Signs a string: HMAC-SHA-256 with a key derived from SECRET_KEY. */
  sign(text: string): Buffer {
    return createHmac('sha256', this.signingKey).update(text).digest();
  }

  encrypt(text: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ENCRYPTION_ALGORITHM, this.encryptionKey, nonce);
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);

    return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
  }

  /** Decrypts a text, unless it was encrypted with another SECRET_KEY. */
  decrypt(encryptedText: Buffer): string | undefined {
    try {
      const decipher = createDecipheriv(
        ENCRYPTION_ALGORITHM,
        this.encryptionKey,
        encryptedText.subarray(0, NONCE_BYTES),
      );

      decipher.setAuthTag(
        encryptedText.subarray(NONCE_BYTES, NONCE_BYTES + AUTHENTICATION_TAG_BYTES),
      );

      return (
        decipher.update(
          encryptedText.subarray(NONCE_BYTES + AUTHENTICATION_TAG_BYTES),
          undefined,
          'utf8',
        ) + decipher.final('utf8')
      );
    } catch {
      return undefined;
    }
  }
}
