/// The way of a put at a client: windows for which the node has room are asked of the source and sent.
@NullMarked
package io.penstock.wire.client.put;

import org.jspecify.annotations.NullMarked;
