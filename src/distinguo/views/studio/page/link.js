// The one socket to the studio: JSON both ways, connected again when it is lost.

const FIRST_WAIT = 400; // milliseconds before the first new attempt
const LONGEST_WAIT = 5000;
const GAVE_WAY = 4000; // another page took the place of this one, which returns when it is clicked

export class Link {
  /** Handlers: onMessage(message), onChange(isOpen). */
  constructor({ onMessage, onChange }) {
    this.handlers = { onMessage, onChange };
    this.wait = FIRST_WAIT;
    this.connect();
  }

  connect() {
    this.socket = new WebSocket(`ws://${location.host}/socket`);
    this.socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.handlers.onChange(true, "");
    });
    this.socket.addEventListener("message", (event) => this.handlers.onMessage(JSON.parse(event.data)));
    this.socket.addEventListener("close", (event) => {
      this.handlers.onChange(false, event.reason);
      if (event.code === GAVE_WAY) {
        addEventListener("pointerdown", () => this.connect(), { once: true });
        return;
      }
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
    });
  }

  /** Send a message; tell whether there was anybody to send it to. */
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
