/// Connections over TCP, Unix domain sockets and WebSocket, with TLS: one connection class, whose [Framing] differs.
@NullMarked
package io.penstock.wire.transport.tcp;

import org.jspecify.annotations.NullMarked;
