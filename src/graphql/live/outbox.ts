/**
 * Messages to one WebSocket client, sent one after the other: the promise of each resolves when it has been passed to the network. A client that reads slowly
 * thus receives everything, and a subscription produces its next event only when the previous one has been sent.
 */
import type { WebSocket } from 'ws';

const MAX_UNSENT_CHARACTERS = 1024 * 1024;

export class Outbox {
  private lastSent: Promise<void> = Promise.resolve();
  private unsentCharacters = 0;

  /** `onSent` is called when a message has been sent. */
  constructor(
    private readonly socket: WebSocket,
    private readonly onSent: () => void,
  ) {}

  /** Resolves even if the client has disconnected, because the `close` event reports that. */
  send(message: string): Promise<void> {
    this.unsentCharacters += message.length;
    return (this.lastSent = this.lastSent.then(() => this.sendNow(message)));
  }

  private async sendNow(message: string): Promise<void> {
    const { socket } = this;
    if (socket.readyState === socket.OPEN) {
      const error = await new Promise<Error | undefined>((resolve) => socket.send(message, resolve));
      if (!error) this.onSent();
    }
    this.unsentCharacters -= message.length;
  }

  /** Closes the connection after sending the messages that were passed to `send`. */
  close(code?: number, reason?: string): void {
    void this.lastSent.then(() => this.socket.close(code, reason));
  }

  /** Whether so much is unsent that no further message from the client should be handled. */
  get isFull(): boolean {
    return this.unsentCharacters > MAX_UNSENT_CHARACTERS;
  }

  /** Resolves when the outbox is no longer full, or the client has disconnected. */
  async drain(): Promise<void> {
    while (this.isFull) await this.lastSent;
  }
}
