/// The spaces of a node: which tier a request means, whether its caller may, and what a connection holds there.
@NullMarked
package io.penstock.wire.server.space;

import org.jspecify.annotations.NullMarked;
