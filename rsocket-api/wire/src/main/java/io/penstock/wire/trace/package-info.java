/// Traces that continue from a client to a node.
@NullMarked
package io.penstock.wire.trace;

import org.jspecify.annotations.NullMarked;
