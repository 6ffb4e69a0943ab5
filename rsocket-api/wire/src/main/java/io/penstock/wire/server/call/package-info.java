/// Requests of one connection at a node, from the frame to the group that serves their route: what they are charged,
/// what ends with the connection, and when a stream is drained.
@NullMarked
package io.penstock.wire.server.call;

import org.jspecify.annotations.NullMarked;
