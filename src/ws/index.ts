/** millrace/ws: WebSockets of the package `ws` as streams with demand. The public names, no logic. */

export { type FromWebSocketOptions, fromWebSocket } from './fromWebSocket.js';
export { type IntoWebSocketOptions, intoWebSocket } from './intoWebSocket.js';
