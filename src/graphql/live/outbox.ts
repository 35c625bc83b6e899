/**
 * Send queue of one WebSocket client. The promise of a message resolves when the message has been passed to the network, so that a subscription
 * produces its next event only when the previous one has been sent.
 */
import type { WebSocket } from 'ws';

const MAX_UNSENT_CHARACTERS = 1024 * 1024;

export class Outbox {
  private lastSendPromise: Promise<void> = Promise.resolve();
  private unsentCharacterCount = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly onMessageSent: () => void,
  ) {}

  /** Queues a message. Resolves when it has been sent or the client has disconnected; only the `close` event tells the two apart. */
  send(message: string): Promise<void> {
    this.unsentCharacterCount += message.length;
    return (this.lastSendPromise = this.lastSendPromise.then(() => this.sendNow(message)));
  }

  private async sendNow(message: string): Promise<void> {
    const { socket } = this;
    if (socket.readyState === socket.OPEN) {
      const error = await new Promise<Error | undefined>((resolve) =>
        socket.send(message, resolve),
      );
      if (!error) this.onMessageSent();
    }
    this.unsentCharacterCount -= message.length;
  }

  /** Closes the connection after sending all queued messages. */
  close(code?: number, reason?: string): void {
    void this.lastSendPromise.then(() => this.socket.close(code, reason));
  }

  /** Whether the send queue exceeds its limit, so that no further message from the client should be handled. */
  private get isFull(): boolean {
    return this.unsentCharacterCount > MAX_UNSENT_CHARACTERS;
  }

  /** Waits until the send queue is below its limit or the client has disconnected. */
  async waitUntilNotFull(): Promise<void> {
    while (this.isFull) await this.lastSendPromise;
  }
}
