/**
 * Tokens: found by their SHA-256, kept encrypted with SECRET_KEY (AES-256-GCM), so that login can return the existing one and a stolen
 * database gives none.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const newToken = (): string => randomBytes(20).toString('hex');
export const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

export class TokenVault {
  private readonly key: Buffer;
  private readonly signingKey: Buffer;

  constructor(secretKey: string) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32));
    this.key = derive('fitgraph tokens');
    this.signingKey = derive('fitgraph signatures');
  }

  /** What only an owner of SECRET_KEY can make of a text. */
  sign(text: string): Buffer {
    return createHmac('sha256', this.signingKey).update(text).digest();
  }

  seal(token: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce);
    const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** Undefined where the token was sealed with another key. */
  open(sealed: Buffer): string | undefined {
    try {
      const decipher = createDecipheriv(ALGORITHM, this.key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }
}
