/// The way of a get at a client: the question, through the read ring or over the connection, then slices with credit
/// into windows of the arena, until a reader has them.
@NullMarked
package io.penstock.wire.client.get;

import org.jspecify.annotations.NullMarked;
