/// Segments of a peer at a client: what a transfer engine reads and writes over a connection.
@NullMarked
package io.penstock.wire.client.segment;

import org.jspecify.annotations.NullMarked;
